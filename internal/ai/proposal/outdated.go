package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// ErrOutdated says that what a proposal would change is not any more as it was
// when it was proposed. Such a proposal has failed for good: versions only rise,
// and what was deleted does not come back.
var ErrOutdated = errors.New("proposal out of date")

// pins are the keys of a payload in which a dry run keeps the state it was made
// against.
var pins = []string{"version", "fromStatus"}

// outdated gives the refusal of a proposal whose recheck failed with err, when
// no later try could succeed; nil when one could.
func (g *Gate) outdated(ctx context.Context, t tool.Tool, r *row, payload json.RawMessage, err error) *problem.Error {
	said, ok := problem.As(err)
	if !ok {
		return nil
	}
	switch {
	case t.Validate(payload) != nil:
		return problem.Invalid("This proposal is out of date: it does not fit the tool any more. Nothing was changed; ask for it again", said.Issues...)
	case errors.Is(err, problem.ErrMoved):
		e := problem.Conflict("This proposal is out of date: what it would change has changed since. Nothing was done; ask for it again")
		e.Issues = g.since(ctx, t, r, payload)
		return e
	case said.Kind == problem.KindNotFound:
		// It may only be out of sight for somebody else; but who may apply a
		// proposal may decline it too, so nothing is lost to them.
		return problem.Conflict("This proposal is out of date. %s. Nothing was done", sentence(said.Message))
	}
	return nil
}

func sentence(s string) string {
	for len(s) > 0 && s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// since tells what has changed behind a proposal: the dry run, freed of the
// state it was made against, says how the thing is now.
func (g *Gate) since(ctx context.Context, t tool.Tool, r *row, payload json.RawMessage) []problem.Issue {
	var fields map[string]json.RawMessage
	var snap snapshot
	if json.Unmarshal(payload, &fields) != nil || json.Unmarshal(r.ResultSnapshot, &snap) != nil {
		return nil
	}
	for _, k := range pins {
		delete(fields, k)
	}
	free, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	dry, err := guard(ctx, func(ctx context.Context) (tool.Dry, error) { return t.Preview(ctx, free) })
	if said, ok := problem.As(err); ok && !errors.Is(err, problem.ErrMoved) {
		return []problem.Issue{{Message: said.Message}}
	}
	if err != nil {
		return nil
	}
	now, err := g.shapes[t.Name()].redactDiff(dry.Diff)
	if err != nil {
		return nil
	}
	var out []problem.Issue
	add := func(path string, was, is json.RawMessage) {
		if !slices.Contains(pins, path) && string(was) != string(is) {
			out = append(out, problem.Issue{Path: path, Message: "was " + shown(was) + ", is now " + shown(is)})
		}
	}
	fresh := map[string]tool.Change{}
	for _, c := range now {
		fresh[c.Path] = c
	}
	for _, c := range snap.Diff {
		if n, ok := fresh[c.Path]; ok {
			add(c.Path, c.Before, n.Before)
			delete(fresh, c.Path)
			continue
		}
		add(c.Path, c.Before, c.After) // somebody else has done it
	}
	for _, c := range now {
		if _, ok := fresh[c.Path]; ok {
			add(c.Path, c.After, c.Before) // it was as wanted, and is no more
		}
	}
	if len(out) == 0 {
		return []problem.Issue{{Message: "the fields on the card are as they were, something else about it has changed"}}
	}
	return out
}

// shown gives one side of a change in a few words.
func shown(raw json.RawMessage) string {
	if raw == nil {
		return "absent"
	}
	return short(string(raw), 80)
}

// giveUp closes a proposal that is out of date, and gives the refusal. When
// somebody has decided it meanwhile, that is told instead.
func (g *Gate) giveUp(ctx context.Context, p authz.Principal, t tool.Tool, r *row, refusal *problem.Error, cause error) error {
	refusal = refusal.Because(errors.Join(ErrOutdated, cause))
	now := db.Time(g.now())
	res, err := g.db.Write.NewRaw(`UPDATE ai_tool_calls SET status = ?, outdated = ?, finished_at = ?, error = ?, applied_by_kind = ?, applied_by_id = ?
		WHERE id = ? AND status = ?`, Failed, true, now, errorText(refusal), p.Kind, p.ID, r.ID, Proposed).Exec(ctx)
	if err != nil {
		return fmt.Errorf("close outdated proposal %s: %w", r.ID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		latest, lerr := g.load(ctx, r.ID)
		if lerr != nil {
			return errors.Join(err, lerr)
		}
		return errors.Join(err, g.open(latest))
	}
	g.emit(ctx, Who{authz.Kind(r.PrincipalKind), r.PrincipalID}, Transport(r.Transport), t, Failed)
	return refusal
}

// Outdated gives the proposals that would wait in the inbox of the principal in
// ctx if they were not out of date.
func (g *Gate) Outdated(ctx context.Context) ([]Record, error) {
	return g.inbox(ctx, "outdated AND proposal_expires_at > ?", db.Time(g.now()))
}

// inbox gives the calls of the inbox of the principal in ctx to which the
// condition applies; see Waiting.
func (g *Gate) inbox(ctx context.Context, condition string, args ...any) ([]Record, error) {
	p := authz.From(ctx)
	if err := acceptable(p); err != nil {
		return nil, err
	}
	var names []string
	for _, t := range g.tools.For(p) {
		names = append(names, t.Name())
	}
	if len(names) == 0 {
		return nil, nil
	}
	var rows []row
	err := g.db.Read.NewRaw("SELECT "+rowColumns+" FROM ai_tool_calls WHERE "+condition+` AND tool_name IN (?)
			AND ((transport <> ? AND NOT private) OR (principal_kind = ? AND principal_id = ?))
		ORDER BY proposal_expires_at, id LIMIT ?`,
		append(args, bun.List(names), Chat, p.Kind, p.ID, maxWaiting)...).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	out := make([]Record, len(rows))
	for i := range rows {
		rec, err := g.record(&rows[i])
		if err != nil {
			return nil, err
		}
		out[i] = *rec
	}
	return out, nil
}
