package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// Draft is a memory to save.
type Draft struct {
	Scope      Scope
	SystemID   string
	RecallHint string
	Content    string
	Tags       []string
	// AlwaysInject nil keeps what a replaced memory has, false otherwise.
	AlwaysInject *bool
	// Replaces names the memory to change. Without it, one with nearly the same
	// hint is changed if there is one.
	Replaces string
	// Version, if not zero, must be the present one of what is replaced.
	Version int64
	// OnlyNew refuses to change what exists, for a card that showed an addition.
	OnlyNew bool
}

func (d *Draft) clean() []problem.Issue {
	d.RecallHint, d.Content = text.Clean(d.RecallHint), text.Clean(d.Content)
	issues := text.Line("recallHint", d.RecallHint, maxHint)
	issues = append(issues, text.Message("content", d.Content, maxContent)...)
	issues = append(issues, noCredential("recallHint", d.RecallHint)...)
	issues = append(issues, noCredential("content", d.Content)...)
	tags, more := cleanTags(d.Tags)
	d.Tags = tags
	issues = append(issues, more...)
	switch {
	case d.Scope != ScopeUser && d.Scope != ScopeSystem:
		issues = append(issues, problem.Issue{Path: "scope", Message: "must be user or system"})
	case d.Scope == ScopeSystem && d.SystemID == "":
		issues = append(issues, problem.Issue{Path: "systemId", Message: "is needed for a memory about a system"})
	case d.Scope == ScopeUser && d.SystemID != "":
		issues = append(issues, problem.Issue{Path: "systemId", Message: "only a memory of scope system has one"})
	}
	if d.OnlyNew && d.Replaces != "" {
		issues = append(issues, problem.Issue{Path: "onlyNew", Message: "does not go with replaces"})
	}
	return issues
}

// cleanTags gives the tags without repeats.
func cleanTags(in []string) ([]string, []problem.Issue) {
	tags := []string{}
	var issues []problem.Issue
	if len(in) > maxTags {
		issues = append(issues, problem.Issue{Path: "tags", Message: fmt.Sprintf("must be at most %d", maxTags)})
	}
	for i, t := range in[:min(len(in), maxTags)] {
		t = text.Clean(t)
		path := fmt.Sprintf("tags[%d]", i)
		issues = append(issues, text.Line(path, t, maxTag)...)
		issues = append(issues, noCredential(path, t)...)
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags, issues
}

// plan is what saving a draft would do: change a memory, or add one when before
// is nil.
type plan struct {
	before *Memory
	after  Memory
}

// plan checks a draft and finds what it replaces, without changing anything.
func (s *Service) plan(ctx context.Context, idb bun.IDB, p authz.Principal, d Draft) (plan, error) {
	if !mayOwn(p) {
		return plan{}, problem.Forbidden("Only people and applications have memories")
	}
	if err := problem.InputIssues(d.clean()); err != nil {
		return plan{}, err
	}
	if d.Scope == ScopeSystem && !p.Has(s.systemRead.ID) {
		return plan{}, problem.Forbidden("A memory about a system needs the right to see it: %s", s.systemRead.ID)
	}
	var out plan
	switch before, err := s.replaced(ctx, idb, p, d); {
	case err != nil:
		return plan{}, err
	case before != nil:
		out.before, out.after = before, *before
	default:
		if d.Version != 0 {
			return plan{}, problem.Field("version", "goes with replaces")
		}
		out.after = Memory{ID: newID(), Owner: ownerOf(p), Scope: d.Scope, SystemID: d.SystemID, CreatedAt: s.clock()}
	}
	m := &out.after
	m.RecallHint, m.Content, m.Tags = d.RecallHint, d.Content, d.Tags
	if d.AlwaysInject != nil {
		m.AlwaysInject = *d.AlwaysInject
	}
	if m.Scope == ScopeSystem && m.AlwaysInject && !p.Has(s.systemManage.ID) {
		return plan{}, problem.Forbidden("A memory that accompanies everybody's conversations needs the right to manage the system: %s", s.systemManage.ID)
	}
	m.UpdatedAt = s.clock()
	m.Version++
	return out, nil
}

// replaced finds the memory that a draft changes; nil means none.
func (s *Service) replaced(ctx context.Context, idb bun.IDB, p authz.Principal, d Draft) (*Memory, error) {
	if d.Replaces != "" {
		m, err := s.memory(ctx, idb, p, d.Replaces)
		switch {
		case err != nil:
			return nil, err
		case m.Scope != d.Scope || m.SystemID != d.SystemID:
			return nil, problem.Field("scope", "a memory keeps its scope and system; save a new one instead")
		case !s.rewrites(p, &m):
			return nil, problem.Forbidden("This memory was saved by somebody else; changing it needs %s", s.systemManage.ID)
		case d.Version != 0 && d.Version != m.Version:
			return nil, errMoved
		}
		return &m, nil
	}
	near, err := s.store.neighbours(ctx, idb, ownerOf(p), d)
	if err != nil {
		return nil, err
	}
	var best *Memory
	top := 0.0
	for i := range near {
		if share := overlap(near[i].RecallHint, d.RecallHint); share >= alike && share > top && s.rewrites(p, &near[i]) {
			best, top = &near[i], share
		}
	}
	if best != nil && d.OnlyNew {
		return nil, problem.Conflict("A memory that says nearly the same has been saved in the meantime: %q. Propose the change again to see what it would replace", best.RecallHint)
	}
	return best, nil
}

// overlap is the Jaccard index of the words of two texts.
func overlap(a, b string) float64 {
	x, y := count(a), count(b)
	if len(x) == 0 && len(y) == 0 {
		if strings.EqualFold(a, b) {
			return 1
		}
		return 0
	}
	both := 0
	for w := range x {
		if y[w] > 0 {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

// PlanSave says what saving a draft would do, without doing it: the memory as it
// would be, and the one it replaces, nil for none.
func (s *Service) PlanSave(ctx context.Context, p authz.Principal, d Draft) (after Memory, before *Memory, err error) {
	pl, err := s.plan(ctx, s.db.Read, p, d)
	if err != nil {
		return Memory{}, nil, err
	}
	if pl.before == nil {
		if err := s.systemExists(ctx, d.SystemID); err != nil {
			return Memory{}, nil, err
		}
	}
	named, err := s.visibleOnly(ctx, p, []Memory{pl.after})
	if err == nil && len(named) == 1 {
		pl.after = named[0]
	}
	return pl.after, pl.before, err
}

var errNoSystem = problem.Field("systemId", "there is no such system; catalog.listSystems gives the ids")

func (s *Service) systemExists(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	names, err := s.systems.SystemNames(ctx, []string{id})
	if err != nil {
		return fmt.Errorf("look up systems: %w", err)
	}
	if len(names) == 0 {
		return errNoSystem
	}
	return nil
}

// Save keeps a memory; updated says that it changed one that existed. What it
// replaces is found and written in one transaction, so that two saves of the
// same thing leave one memory.
func (s *Service) Save(ctx context.Context, p authz.Principal, d Draft) (m Memory, updated bool, err error) {
	if err := s.systemExists(ctx, d.SystemID); err != nil {
		return Memory{}, false, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		key := "ai.memory.user:" + string(p.Kind) + ":" + p.ID
		if d.Scope == ScopeSystem {
			key = "ai.memory.system:" + d.SystemID
		}
		if err := s.db.LockKey(ctx, tx, key); err != nil {
			return err
		}
		pl, err := s.plan(ctx, tx, p, d)
		if err != nil {
			return err
		}
		if m = pl.after; pl.before != nil {
			updated = true
			return s.store.updateMemory(ctx, tx, &m, pl.before.Version)
		}
		n, err := s.store.countBeside(ctx, tx, &m)
		switch limit := m.limit(); {
		case err != nil:
			return err
		case n >= limit:
			return problem.Conflict("There are %d memories already; delete one first", limit)
		}
		return s.store.insertMemory(ctx, tx, &m)
	})
	return m, updated, err
}

func (m *Memory) limit() int {
	if m.Scope == ScopeSystem {
		return maxOfSystem
	}
	return maxOwned
}
