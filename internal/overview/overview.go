// Package overview answers the questions that span domains: what needs attention
// now (this file), what happened lately (activity.go), and whether a system's
// health is kept quiet now (silence.go). Every domain
// contributes signals about systems and its own recent history; the dashboard and
// the assistant's tools read the same answer from here, so they cannot disagree.
//
// A source that the viewer may not read, or that could not be read, is named
// in the answer: silence is never taken for "all clear" (sources.go).
package overview

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
)

// Tone says how loud a signal is. It is not a health status.
type Tone string

// The tones, worst first.
const (
	ToneError Tone = "error"
	ToneWarn  Tone = "warn"
	ToneInfo  Tone = "info"
)

func (t Tone) rank() int { return slices.Index([]Tone{ToneError, ToneWarn, ToneInfo}, t) }

// Signal is one thing that a domain has to say about a system.
type Signal struct {
	Tone   Tone
	Label  string
	Detail string
	// Since and Until are when it began and when it will be over, if that is
	// known.
	Since, Until *time.Time
	// Href is where the reader can look further; shown as a link only to who
	// holds Rule.
	Href string
	Rule string
}

// Contributor reads the signals of one domain.
type Contributor struct {
	// Source is the domain's plugin id.
	Source string
	// Rule is what a viewer must hold to be told.
	Rule authz.Rule
	// Read gives what there is to say; it must not fail for a system that was
	// deleted meanwhile.
	Read func(ctx context.Context) (Reading, error)
}

// Reading is what one source says.
type Reading struct {
	// Signals are by system id.
	Signals map[string][]Signal
	// Watched is set by the one source that knows.
	Watched Watched
}

// Watched counts the systems that have a health status. Pending ones have
// checks that did not run yet.
type Watched struct {
	Total, Healthy, Pending int
	LastRunAt               *time.Time
}

type systemNames interface {
	SystemNames(ctx context.Context, ids []string) (map[string]string, error)
}

// Deps are what every domain contributes.
type Deps struct {
	Systems      systemNames
	Contributors []Contributor
	Activities   []ActivitySource
	// Silencers are asked in this order.
	Silencers []Silencer
	Log       *slog.Logger
}

// Service derives the overview.
type Service struct {
	systems      systemNames
	contributors []Contributor
	activities   []ActivitySource
	silencers    []Silencer
	log          *slog.Logger
}

// New makes the service.
func New(d Deps) *Service {
	return &Service{systems: d.Systems, contributors: d.Contributors, activities: d.Activities, silencers: d.Silencers, log: d.Log}
}

// SystemIssues is a system and what is said about it, worst first.
type SystemIssues struct {
	SystemID, Name string
	Signals        []SourcedSignal
}

// SourcedSignal is a signal with the domain it comes from.
type SourcedSignal struct {
	Source string
	Signal
}

// Issues is the whole answer.
type Issues struct {
	Systems []SystemIssues
	Watched Watched
	Coverage
}

// Issues reads every source at once, as the principal in ctx. systemIDs, if
// not nil, limits the answer.
func (s *Service) Issues(ctx context.Context, systemIDs []string) (Issues, error) {
	p := authz.From(ctx)
	sources := make([]source[Reading], len(s.contributors))
	for i, c := range s.contributors {
		sources[i] = source[Reading]{c.Source, c.Rule, c.Read}
	}
	out := Issues{Systems: []SystemIssues{}}
	var readings []answer[Reading]
	readings, out.Coverage = read(ctx, s.log, sources)
	bySystem := map[string][]SourcedSignal{}
	for _, r := range readings {
		if r.value.Watched.Total > 0 {
			out.Watched = r.value.Watched
		}
		for id, signals := range r.value.Signals {
			if systemIDs != nil && !slices.Contains(systemIDs, id) {
				continue
			}
			for _, sig := range signals {
				if sig.Rule != "" && !p.Has(sig.Rule) {
					sig.Href = ""
				}
				bySystem[id] = append(bySystem[id], SourcedSignal{r.source, sig})
			}
		}
	}
	ids := make([]string, 0, len(bySystem))
	for id := range bySystem {
		ids = append(ids, id)
	}
	names, err := s.systems.SystemNames(ctx, ids)
	if err != nil {
		return Issues{}, err
	}
	for id, signals := range bySystem {
		name, ok := names[id]
		if !ok || len(signals) == 0 {
			continue
		}
		slices.SortStableFunc(signals, func(a, b SourcedSignal) int { return a.Tone.rank() - b.Tone.rank() })
		out.Systems = append(out.Systems, SystemIssues{SystemID: id, Name: name, Signals: signals})
	}
	slices.SortFunc(out.Systems, worseFirst)
	return out, nil
}

// worseFirst orders by worst tone, then number of signals, then who suffers
// longest; spec/monitoring.md 14.
func worseFirst(a, b SystemIssues) int {
	return cmp.Or(
		a.Signals[0].Tone.rank()-b.Signals[0].Tone.rank(),
		len(b.Signals)-len(a.Signals),
		compareSince(a, b),
		strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
		strings.Compare(a.SystemID, b.SystemID),
	)
}

func compareSince(a, b SystemIssues) int {
	at, bt := earliest(a.Signals), earliest(b.Signals)
	switch {
	case at == nil && bt == nil:
		return 0
	case at == nil:
		return 1
	case bt == nil:
		return -1
	}
	return at.Compare(*bt)
}

func earliest(signals []SourcedSignal) *time.Time {
	var first *time.Time
	for _, s := range signals {
		if s.Since != nil && (first == nil || s.Since.Before(*first)) {
			first = s.Since
		}
	}
	return first
}
