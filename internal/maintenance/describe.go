package maintenance

import (
	"fmt"
	"strings"
	"time"
)

// describeRule puts a rule into words, as far as words are clearer than the
// rule; startLocal gives what the rule leaves to its start. A rule that cannot
// be read, or that has no short wording, is given as it is.
func describeRule(text, startLocal string) string {
	r, err := parseRule(text)
	start, startErr := time.Parse(localLayout, startLocal)
	if err != nil || startErr != nil || len(r.weeks)+len(r.yearDays)+len(r.setPos) > 0 || r.weekFrom != time.Monday && r.interval > 1 {
		return text
	}
	r.complete(dateOf(start))
	unit := map[frequency]string{daily: "day", weekly: "week", monthly: "month", yearly: "year"}[r.freq]
	words := "every " + unit
	if r.interval > 1 {
		words = fmt.Sprintf("every %d %ss", r.interval, unit)
	}
	var on []string
	for _, w := range r.weekdays {
		day := w.day.String()
		if w.n != 0 {
			day = "the " + ordinal(w.n) + " " + day
		}
		on = append(on, day)
	}
	if len(r.days) > 0 && len(r.weekdays) > 0 {
		return text
	}
	for _, d := range r.days {
		if d < 0 {
			on = append(on, "the "+ordinal(d)+" day")
		} else {
			on = append(on, "day "+fmt.Sprint(d))
		}
	}
	if len(on) > 0 {
		words += " on " + enumerate(on)
	}
	if len(r.months) > 0 {
		names := make([]string, len(r.months))
		for i, m := range r.months {
			names[i] = time.Month(m).String()
		}
		words += " in " + enumerate(names)
	}
	switch {
	case r.count == 1:
		words += ", once"
	case r.count > 1:
		words += fmt.Sprintf(", %d times", r.count)
	case r.until != "":
		until, kind, _ := parseUntil(r.until)
		words += ", until " + until.Format("2 January 2006")
		switch kind {
		case untilLocal:
			words += until.Format(" 15:04")
		case untilInstant:
			words += until.Format(" 15:04 UTC")
		}
	}
	return words
}

func ordinal(n int) string {
	if n < -1 {
		return ordinal(-n) + " last"
	}
	names := map[int]string{-1: "last", 1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
	if name, ok := names[n]; ok {
		return name
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

func enumerate(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
