package overview

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/authz"
)

func history(id string, err error, list ...Activity) ActivitySource {
	return ActivitySource{Source: id, Rule: authz.Rule{ID: id + ".x.read"}, Read: func(_ context.Context, limit int) ([]Activity, error) {
		return list[:min(limit, len(list))], err
	}}
}

func TestActivityMergesNewestFirst(t *testing.T) {
	t.Parallel()
	at := func(min int) time.Time { return time.Date(2026, 1, 1, 0, min, 0, 0, time.UTC) }
	s := New(Deps{Systems: names{"a": "Shop", "b": "Mail"}, Log: slog.New(slog.DiscardHandler), Activities: []ActivitySource{
		history("healthcheck", nil,
			Activity{ID: "h3", Kind: "changed", SystemIDs: []string{"a"}, From: "healthy", To: "unhealthy", At: at(9), Href: "/a", Rule: "healthcheck.x.read"},
			Activity{ID: "h2", Kind: "changed", SystemIDs: []string{"gone"}, To: "healthy", At: at(8)},
			Activity{ID: "h1", Kind: "changed", SystemIDs: []string{"b"}, To: "healthy", At: at(1)}),
		history("incident", nil,
			Activity{ID: "i2", Kind: "opened", Title: "Down", SystemIDs: []string{"b", "gone", "a"}, At: at(9), Href: "/incident/2", Rule: "other.x.read"},
			Activity{ID: "i1", Kind: "resolved", Title: "Old", SystemIDs: []string{"gone"}, At: at(2)}),
		history("maintenance", errors.New("broken")),
		history("slo", nil, Activity{ID: "s1", Title: "hidden", At: at(9)}),
	}})
	ctx := authz.With(t.Context(), authz.Principal{Kind: authz.User, ID: "u", Rules: []string{"healthcheck.x.read", "incident.x.read", "maintenance.x.read"}})
	for _, tc := range []struct {
		limit int
		want  []string
	}{
		{10, []string{"healthcheck h3 Shop [{a Shop}] /a", "incident i2 Down [{b Mail} {a Shop}] ", "incident i1 Old [] ", "healthcheck h1 Mail [{b Mail}] "}},
		{2, []string{"healthcheck h3 Shop [{a Shop}] /a", "incident i2 Down [{b Mail} {a Shop}] "}},
	} {
		feed, err := s.RecentActivity(ctx, tc.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range feed.Items {
			got = append(got, fmt.Sprint(e.Source, " ", e.ID, " ", e.Title, " ", e.Systems, " ", e.Href))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("newest %d (-want +got)\n%s", tc.limit, d)
		}
		if d := cmp.Diff(Coverage{[]string{"healthcheck", "incident"}, []string{"slo"}, []string{"maintenance"}}, feed.Coverage); d != "" {
			t.Errorf("sources (-want +got)\n%s", d)
		}
	}
}

// TestActivityOfNobody: who may read no source gets an empty feed that says so.
func TestActivityOfNobody(t *testing.T) {
	t.Parallel()
	asked := false
	s := New(Deps{Systems: names{}, Log: slog.New(slog.DiscardHandler), Activities: []ActivitySource{{Source: "healthcheck", Rule: authz.Rule{ID: "h.x.read"}, Read: func(context.Context, int) ([]Activity, error) {
		asked = true
		return nil, nil
	}}}})
	feed, err := s.RecentActivity(t.Context(), 8)
	if err != nil || len(feed.Items) != 0 || len(feed.Inaccessible) != 1 || asked {
		t.Errorf("got %+v, %v; asked: %t", feed, err, asked)
	}
}
