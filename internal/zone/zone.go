package zone

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // an image built from scratch has no database of its own
)

//go:generate go run generate.go

//go:embed names.txt
var nameList string

// names are the known zones in order, and their true spelling by lower case.
var names = sync.OnceValue(func() (n struct {
	all []string
	by  map[string]string
}) {
	n.all = strings.Fields(nameList)
	n.by = make(map[string]string, len(n.all))
	for _, name := range n.all {
		n.by[strings.ToLower(name)] = name
	}
	return n
})

// maxName bounds what is looked at and repeated; the longest real name has 32
// bytes.
const maxName = 64

// UnknownError says that a text names no time zone.
type UnknownError struct {
	// Name is what was asked for, cut to 64 bytes.
	Name string
	// Nearest is a known name that differs by a slip of the pen, or empty.
	Nearest string
}

// Error names the text and, where there is one, the zone that was meant.
func (e *UnknownError) Error() string {
	switch {
	case e.Name == "":
		return "a time zone is required, such as Europe/Berlin or UTC"
	case e.Nearest != "":
		return fmt.Sprintf("%q is not a time zone; did you mean %s?", e.Name, e.Nearest)
	}
	return fmt.Sprintf("%q is not a time zone; write an IANA name such as Europe/Berlin or UTC", e.Name)
}

// Load gives the zone of an IANA name, whatever its letter case; the true
// spelling is the location's String. Everything else is refused with an
// *UnknownError: nothing, "Local", an offset such as +02:00, text around the
// name.
func Load(name string) (*time.Location, error) {
	canonical, ok := Canonical(name)
	if !ok {
		cut := strings.ToValidUTF8(name[:min(len(name), maxName)], "")
		return nil, &UnknownError{Name: cut, Nearest: nearest(cut)}
	}
	loc, err := time.LoadLocation(canonical)
	if err != nil {
		return nil, fmt.Errorf("load the time zone %s: %w", canonical, err)
	}
	return loc, nil
}

// Canonical gives the true spelling of a zone's name; ok is false for a text
// that names none.
func Canonical(name string) (canonical string, ok bool) {
	if len(name) > maxName {
		return "", false
	}
	canonical, ok = names().by[strings.ToLower(name)]
	return canonical, ok
}

// Names gives all known names in alphabetical order.
func Names() []string { return slices.Clone(names().all) }

// Host finds the zone of the host by a name that can be told to others, which
// time.Local does not have: the variable TZ, then the link of the system's
// local time, then UTC.
func Host() *time.Location {
	if loc, err := Load(strings.TrimPrefix(os.Getenv("TZ"), ":")); err == nil {
		return loc
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			if loc, err := Load(name); err == nil {
				return loc
			}
		}
	}
	return time.UTC
}

// nearest finds the known name that is at most two slips away: a letter too
// many, too few or wrong, or two that changed places.
func nearest(name string) string {
	const most = 2
	name = strings.ToLower(name)
	best, found := most+1, ""
	if len(name) < 4 {
		return ""
	}
	for _, known := range names().all {
		if d := len(known) - len(name); d > most || d < -most {
			continue
		}
		if d := distance(name, strings.ToLower(known)); d < best {
			best, found = d, known
		}
	}
	return found
}

// distance counts the slips between two short texts, byte by byte (optimal
// string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
