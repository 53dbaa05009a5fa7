package overview

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
)

// Activity is one thing that happened in a domain.
type Activity struct {
	// ID is unique within its source.
	ID string
	// Kind says what happened, in a word of the source: "changed", "opened",
	// "started".
	Kind string
	// Title names what it happened to; empty means the system in SystemIDs.
	Title     string
	SystemIDs []string
	// From and To are the statuses around a change, if it was one.
	From, To string
	// Href is where the reader can look further; shown as a link only to who
	// holds Rule.
	Href string
	Rule string
	At   time.Time
}

// ActivitySource reads the recent history of one domain.
type ActivitySource struct {
	// Source is the domain's plugin id.
	Source string
	// Rule is what a viewer must hold to be told.
	Rule authz.Rule
	// Read gives at most limit things that the principal in ctx may know, the
	// newest ones.
	Read func(ctx context.Context, limit int) ([]Activity, error)
}

// Entry is an activity as the feed shows it.
type Entry struct {
	Source string
	Activity
	// Systems are those of SystemIDs that still exist, in the same order.
	Systems []System
}

// System names a system.
type System struct{ ID, Name string }

// Feed is what happened lately, newest first.
type Feed struct {
	Items []Entry
	Coverage
}

// RecentActivity merges what happened in every domain, as far as the principal
// in ctx may know, and gives the newest limit of it. What happened to a system
// that is gone is left out, unless it has a name of its own.
func (s *Service) RecentActivity(ctx context.Context, limit int) (Feed, error) {
	p := authz.From(ctx)
	sources := make([]source[[]Activity], len(s.activities))
	for i, a := range s.activities {
		sources[i] = source[[]Activity]{a.Source, a.Rule, func(ctx context.Context) ([]Activity, error) { return a.Read(ctx, limit) }}
	}
	var feed Feed
	var lists []answer[[]Activity]
	lists, feed.Coverage = read(ctx, s.log, sources)
	var all []Entry
	for _, list := range lists {
		for _, a := range list.value {
			if a.Rule != "" && !p.Has(a.Rule) {
				a.Href = ""
			}
			all = append(all, Entry{Source: list.source, Activity: a})
		}
	}
	// Of things of the same instant the order is that of the sources, and within
	// a source its own.
	slices.SortStableFunc(all, func(a, b Entry) int { return b.At.Compare(a.At) })
	all = all[:min(len(all), limit)]

	names, err := s.systems.SystemNames(ctx, concerned(all))
	if err != nil {
		return Feed{}, err
	}
	feed.Items = make([]Entry, 0, len(all))
	for _, e := range all {
		for _, id := range e.SystemIDs {
			if name, ok := names[id]; ok {
				e.Systems = append(e.Systems, System{id, name})
			}
		}
		if e.Title == "" {
			if len(e.Systems) == 0 {
				continue
			}
			e.Title = e.Systems[0].Name
		}
		feed.Items = append(feed.Items, e)
	}
	return feed, nil
}

func concerned(list []Entry) []string {
	ids := []string{} // never nil, which would ask for all systems
	for _, e := range list {
		ids = append(ids, e.SystemIDs...)
	}
	slices.SortFunc(ids, strings.Compare)
	return slices.Compact(ids)
}
