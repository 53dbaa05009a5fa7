package agent

import (
	"os"
	"regexp"
	"strings"
	"time"
)

// zoneID keeps everything but an IANA id out: the text enters the prompt.
var zoneID = regexp.MustCompile(`^[A-Za-z0-9_+/-]{1,64}$`)

// loadZone gives the zone of an IANA id in any spelling of upper and lower
// case; ok is false for everything else.
func loadZone(id string) (*time.Location, bool) {
	if !zoneID.MatchString(id) || strings.EqualFold(id, "local") || strings.HasPrefix(id, "/") {
		return nil, false
	}
	for _, spelling := range []string{id, titleZone(id), strings.ToUpper(id)} {
		if loc, err := time.LoadLocation(spelling); err == nil {
			return loc, true
		}
	}
	return nil, false
}

// titleZone writes europe/berlin as Europe/Berlin. Go's loader minds the case.
func titleZone(id string) string {
	b := []byte(strings.ToLower(id))
	start := true
	for i, c := range b {
		if start && c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
		start = c == '/' || c == '_' || c == '-'
	}
	return string(b)
}

// hostZone finds the zone of the host by a name that can be told to a model:
// the variable TZ, then the link of the system's local time, then UTC.
func hostZone() *time.Location {
	if loc, ok := loadZone(strings.TrimPrefix(os.Getenv("TZ"), ":")); ok {
		return loc
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, id, ok := strings.Cut(target, "zoneinfo/"); ok {
			if loc, ok := loadZone(id); ok {
				return loc
			}
		}
	}
	return time.UTC
}

// wallClock writes an instant for a person: Sunday 2026-06-07 10:30 (GMT+02:00).
func wallClock(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("Monday 2006-01-02 15:04 (GMT-07:00)")
}
