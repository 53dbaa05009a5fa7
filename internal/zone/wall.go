package zone

import (
	"slices"
	"time"
)

// Instants gives every instant at which clocks in loc show the date and time
// of day of wall, whose own location is ignored; earliest first. There is one,
// except around a change of the clocks: none in the hour that is left out, two
// in the hour that comes twice.
func Instants(wall time.Time, loc *time.Location) []time.Time {
	wall = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), time.UTC)
	// No zone has ever been further from UTC than sixteen hours, so every
	// offset that can be meant is in use within this reach of the same text
	// read as UTC.
	const reach = 17 * time.Hour
	var found []time.Time
	for t := wall.Add(-reach); ; {
		local := t.In(loc)
		_, offset := local.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(loc)
		if _, o := at.Zone(); o == offset && !slices.ContainsFunc(found, at.Equal) {
			found = append(found, at)
		}
		_, next := local.ZoneBounds()
		if next.IsZero() || next.After(wall.Add(reach)) {
			break
		}
		t = next
	}
	slices.SortFunc(found, time.Time.Compare)
	return found
}
