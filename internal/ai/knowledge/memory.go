package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// Scope says for whom a memory is.
type Scope string

// The scopes, spec/ai-platform.md 10.1.
const (
	ScopeUser   Scope = "user"   // its owner
	ScopeSystem Scope = "system" // everybody who may see the system
)

const (
	maxHint    = 200  // characters
	maxContent = 2000 // characters
	maxTags    = 10
	maxTag     = 40 // characters
	// maxOwned and maxOfSystem bound what one person or one system can gather.
	maxOwned    = 500
	maxOfSystem = 200
	// maxAlways and maxAlwaysText bound what enters every turn.
	maxAlways     = 25
	maxAlwaysText = 8000 // characters
	// alike is the share of common words from which two hints mean the same
	// memory, spec/ai-platform.md 40.
	alike = 0.6
)

// Memory is something worth knowing that cannot be looked up.
type Memory struct {
	ID         string
	Owner      Owner
	Scope      Scope
	SystemID   string // for ScopeSystem
	SystemName string
	// RecallHint says when the memory matters; Content is what to know then.
	RecallHint   string
	Content      string
	Tags         []string
	AlwaysInject bool // part of every turn, without a search
	Version      int64
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Owner is who saved a memory.
type Owner struct {
	Kind authz.Kind
	ID   string
}

var (
	errNoMemory = problem.NotFound("There is no such memory, or not for you")
	errMoved    = problem.Conflict("This has been changed in the meantime. Look at it again, then repeat the change")
)

func ownerOf(p authz.Principal) Owner { return Owner{p.Kind, p.ID} }

// mayOwn refuses callers that cannot be an owner.
func mayOwn(p authz.Principal) error {
	if p.ID == "" || (p.Kind != authz.User && p.Kind != authz.Application) {
		return problem.Forbidden("Only people and applications have memories")
	}
	return nil
}

// sees is the rule of visibility. It stands in the query too; what a query
// gives is held against it once more.
func (s *Service) sees(p authz.Principal, m *Memory) bool {
	if m.Scope == ScopeSystem {
		return p.Has(s.systemRead.ID)
	}
	return m.Owner == ownerOf(p)
}

// manages says who may delete a memory or make it part of every turn.
func (s *Service) manages(p authz.Principal, m *Memory) bool {
	if m.Scope == ScopeSystem {
		return p.Has(s.systemManage.ID)
	}
	return m.Owner == ownerOf(p)
}

// rewrites says who may replace the words of a memory. What accompanies the
// turns of other people needs the right over the system.
func (s *Service) rewrites(p authz.Principal, m *Memory) bool {
	return s.manages(p, m) || (s.sees(p, m) && m.Owner == ownerOf(p) && !m.AlwaysInject)
}

// visibleOnly drops what p may not see, and names the systems of the rest.
func (s *Service) visibleOnly(ctx context.Context, p authz.Principal, list []Memory) ([]Memory, error) {
	list = slices.DeleteFunc(list, func(m Memory) bool { return !s.sees(p, &m) })
	var ids []string
	for _, m := range list {
		if m.SystemID != "" && !slices.Contains(ids, m.SystemID) {
			ids = append(ids, m.SystemID)
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	names, err := s.systems.SystemNames(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up systems: %w", err)
	}
	for i := range list {
		list[i].SystemName = names[list[i].SystemID]
	}
	return list, nil
}

// Memories lists what p may see, changed last first; systemID, if not empty,
// keeps those of one system. total counts all of them.
func (s *Service) Memories(ctx context.Context, p authz.Principal, systemID string, limit int) (list []Memory, total int, err error) {
	q := memoryQuery{owner: ownerOf(p), systems: p.Has(s.systemRead.ID), systemID: systemID, limit: limit}
	if total, err = s.store.countMemories(ctx, s.db.Read, q); err != nil {
		return nil, 0, err
	}
	if list, err = s.store.memories(ctx, s.db.Read, q); err != nil {
		return nil, 0, err
	}
	list, err = s.visibleOnly(ctx, p, list)
	return list, total, err
}

// Memory gives one memory that p may see.
func (s *Service) Memory(ctx context.Context, p authz.Principal, id string) (Memory, error) {
	return s.memory(ctx, s.db.Read, p, id)
}

func (s *Service) memory(ctx context.Context, idb bun.IDB, p authz.Principal, id string) (Memory, error) {
	m, err := s.store.memory(ctx, idb, id)
	if err != nil {
		return Memory{}, err
	}
	if !s.sees(p, &m) {
		return Memory{}, errNoMemory
	}
	return m, nil
}

// searched is how many rows with a word of the query are weighed, newest first.
const searched = 1000

// Search finds memories that p may see by words of hint, tags and content,
// spec/ai-platform.md 40.
func (s *Service) Search(ctx context.Context, p authz.Principal, query string, limit int) ([]Memory, error) {
	ts := terms(query)
	if len(ts) == 0 || limit <= 0 {
		return []Memory{}, nil
	}
	list, err := s.store.memories(ctx, s.db.Read, memoryQuery{owner: ownerOf(p), systems: p.Has(s.systemRead.ID), terms: ts, limit: searched})
	if err != nil {
		return nil, err
	}
	type scored struct {
		Memory
		score float64
	}
	found := make([]scored, 0, len(list))
	for _, m := range list {
		score := 3*count(m.RecallHint).score(ts) + 2*count(m.Tags...).score(ts) + count(m.Content).score(ts)
		if score > 0 {
			found = append(found, scored{m, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]Memory, 0, min(limit, len(found)))
	for _, f := range found[:min(limit, len(found))] {
		out = append(out, f.Memory)
	}
	return s.visibleOnly(ctx, p, out)
}

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
	if err := mayOwn(p); err != nil {
		return plan{}, err
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

// SetAlwaysInject makes a memory part of every turn, or no longer.
func (s *Service) SetAlwaysInject(ctx context.Context, p authz.Principal, id string, always bool) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		m, err := s.managed(ctx, tx, p, id)
		if err != nil {
			return err
		}
		before := m.Version
		m.AlwaysInject, m.UpdatedAt, m.Version = always, s.clock(), m.Version+1
		return s.store.updateMemory(ctx, tx, &m, before)
	})
}

// DeleteMemory forgets a memory.
func (s *Service) DeleteMemory(ctx context.Context, p authz.Principal, id string) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.managed(ctx, tx, p, id); err != nil {
			return err
		}
		return s.store.deleteMemory(ctx, tx, id)
	})
}

// ForgetUser removes what only a deleted person could see. What they wrote about
// systems and the skills they published stay, for those who use them.
func ForgetUser(ctx context.Context, tx bun.Tx, userID string) error {
	return store{}.deleteOwned(ctx, tx, Owner{authz.User, userID})
}

// DependentsOf says what would go with a system, for the card that deletes it.
func (s *Service) DependentsOf(ctx context.Context, systemID string) ([]string, error) {
	n, err := s.store.countBeside(ctx, s.db.Read, &Memory{Scope: ScopeSystem, SystemID: systemID})
	switch {
	case err != nil || n == 0:
		return nil, err
	case n == 1:
		return []string{"1 memory about it"}, nil
	}
	return []string{fmt.Sprintf("%d memories about it", n)}, nil
}

// managed gives a memory that p may delete. Who may not even see it hears
// nothing of it.
func (s *Service) managed(ctx context.Context, idb bun.IDB, p authz.Principal, id string) (Memory, error) {
	m, err := s.memory(ctx, idb, p, id)
	if err == nil && !s.manages(p, &m) {
		err = problem.Forbidden("A memory about a system can be deleted or switched by those who manage the system: %s", s.systemManage.ID)
	}
	return m, err
}

// MemoryPrompt gives the memories that accompany every turn of the caller, one
// a line, changed last first; empty when there are none or the caller may not
// recall memories. The text is people's: it goes to a model as data.
func (s *Service) MemoryPrompt(ctx context.Context) (string, error) {
	p := authz.From(ctx)
	if !p.Has(MemoryRead.ID) || mayOwn(p) != nil {
		return "", nil
	}
	list, err := s.store.memories(ctx, s.db.Read, memoryQuery{owner: ownerOf(p), systems: p.Has(s.systemRead.ID), always: true, limit: maxAlways})
	if err != nil {
		return "", err
	}
	if list, err = s.visibleOnly(ctx, p, list); err != nil {
		return "", err
	}
	var b strings.Builder
	left := maxAlwaysText
	for i, m := range list {
		line := m.promptLine()
		n := utf8.RuneCountInString(line)
		if n > left {
			fmt.Fprintf(&b, "- %d more that are too long for here; search the memories for them\n", len(list)-i)
			break
		}
		left -= n
		b.WriteString(line)
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// promptLine is one line whatever the memory holds, so that it cannot look like
// two.
func (m *Memory) promptLine() string {
	about := "own"
	if m.Scope == ScopeSystem {
		about = fmt.Sprintf("about the system %q", m.SystemName)
	}
	return fmt.Sprintf("- (%s) %s: %s\n", about, m.RecallHint, strings.Join(strings.Fields(m.Content), " "))
}
