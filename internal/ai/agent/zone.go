package agent

import "time"

// wallClock writes an instant for a person: Sunday 2026-06-07 10:30 (GMT+02:00).
func wallClock(t time.Time, loc *time.Location) string {
	return t.In(loc).Format("Monday 2006-01-02 15:04 (GMT-07:00)")
}
