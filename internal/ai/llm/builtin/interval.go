package builtin

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of an interval and its default, in seconds.
const (
	minInterval     = 1
	maxInterval     = 7 * 24 * 60 * 60
	defaultInterval = 60
)

var errInterval = errors.New("I accept an interval from 1 second to 7 days, such as `30 seconds`, `90s`, `5 minutes`, `1m30s`, `half an hour` or `hourly`")

var (
	amountPattern = regexp.MustCompile(`^(\d{1,9}(?:[.,]\d{1,3})?) ?([a-zµ]*)\.?(?: ?(?:and )?|$)`)
	unitSeconds   = map[string]float64{
		"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
		"m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
		"h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
		"d": 86400, "day": 86400, "days": 86400, "week": 604800, "weeks": 604800,
		"ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001,
	}
	numberWords = map[string]string{
		"a": "1", "an": "1", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
		"eight": "8", "nine": "9", "ten": "10", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30",
		"forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "other": "2", "second": "1",
	}
	wholeWords = map[string]string{
		"hourly": "1 hour", "daily": "1 day", "minutely": "1 minute", "second": "1 second", "minute": "1 minute", "hour": "1 hour", "day": "1 day", "week": "1 week", "weekly": "1 week",
		"half a minute": "30 seconds", "half minute": "30 seconds", "half an hour": "30 minutes", "half hour": "30 minutes", "half a day": "12 hours",
		"quarter of an hour": "15 minutes", "a quarter of an hour": "15 minutes", "quarter hour": "15 minutes",
	}
)

// parseInterval reads an interval in seconds, "every" already taken away. A
// bare number means seconds.
func parseInterval(text string) (int, error) {
	text = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "every ")
	sum, ok := sumSeconds(text)
	if seconds := int(math.Round(sum)); ok && sum >= minInterval && sum <= maxInterval {
		return seconds, nil
	}
	return 0, errInterval
}

// sumSeconds adds up amounts such as "1 hour and 30 minutes", in lower case.
func sumSeconds(text string) (sum float64, ok bool) {
	if w, ok := wholeWords[text]; ok {
		text = w
	}
	if first, rest, ok := strings.Cut(text, " "); ok {
		if n, ok := numberWords[first]; ok {
			text = n + " " + rest
		}
	}
	if strings.HasPrefix(text, "1 and a half ") {
		text = "1.5 " + strings.TrimPrefix(text, "1 and a half ")
	}
	if text == "" {
		return 0, false
	}
	for text != "" {
		m := amountPattern.FindStringSubmatch(text)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", "."), 64)
		unit, known := unitSeconds[m[2]]
		if m[2] == "" {
			unit, known = 1, true
		}
		if err != nil || !known {
			return 0, false
		}
		sum += n * unit
		text = text[len(m[0]):]
	}
	return sum, true
}
