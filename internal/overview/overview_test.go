package overview

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/authz"
)

type names map[string]string

func (n names) SystemNames(_ context.Context, ids []string) (map[string]string, error) { return n, nil }

func contributor(id string, signals map[string][]Signal, err error) Contributor {
	return Contributor{Source: id, Rule: authz.Rule{ID: id + ".x.read"},
		Read: func(context.Context) (Reading, error) { return Reading{Signals: signals}, err }}
}

func TestIssuesOrderAndHonesty(t *testing.T) {
	t.Parallel()
	at := func(min int) *time.Time { t := time.Date(2026, 1, 1, 0, min, 0, 0, time.UTC); return &t }
	s := New(Deps{Systems: names{"a": "A", "b": "B", "c": "C", "d": "D"}, Log: slog.New(slog.DiscardHandler), Contributors: []Contributor{
		contributor("healthcheck", map[string][]Signal{
			"a":    {{Tone: ToneWarn, Label: "w"}},
			"b":    {{Tone: ToneError, Label: "e", Since: at(5)}},
			"c":    {{Tone: ToneError, Label: "e", Since: at(1), Href: "/x", Rule: "secret.x.read"}},
			"gone": {{Tone: ToneError, Label: "e"}},
			"none": {},
		}, nil),
		contributor("incident", map[string][]Signal{"d": {{Tone: ToneInfo, Label: "i"}, {Tone: ToneError, Label: "e"}}}, nil),
		contributor("slo", nil, errors.New("broken")),
		contributor("anomaly", map[string][]Signal{"a": {{Tone: ToneError, Label: "hidden"}}}, nil),
		{Source: "dependency", Rule: authz.Rule{ID: "slo.x.read"}, Read: func(context.Context) (Reading, error) { panic("bug") }},
	}})
	ctx := authz.With(t.Context(), authz.Principal{Kind: authz.User, ID: "u", Rules: []string{"healthcheck.x.read", "incident.x.manage", "slo.x.read"}})
	got, err := s.Issues(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, sys := range got.Systems {
		order = append(order, sys.Name)
	}
	if d := cmp.Diff([]string{"D", "C", "B", "A"}, order); d != "" {
		t.Errorf("order (-want +got)\n%s", d)
	}
	if got.Systems[0].Signals[0].Tone != ToneError {
		t.Error("a system's worst signal must come first")
	}
	if got.Systems[1].Signals[0].Href != "" {
		t.Error("a link the viewer may not open must be dropped")
	}
	if d := cmp.Diff([][]string{{"healthcheck", "incident"}, {"anomaly"}, {"slo", "dependency"}}, [][]string{got.Checked, got.Inaccessible, got.Failed}); d != "" {
		t.Errorf("sources (-want +got)\n%s", d)
	}
	only, err := s.Issues(ctx, []string{"a"})
	if err != nil || len(only.Systems) != 1 || only.Systems[0].Name != "A" {
		t.Errorf("limited to a: %v, %v", only.Systems, err)
	}
}
