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
	errMoved    = problem.Conflict("This has been changed in the meantime. Look at it again, then repeat the change").Because(problem.ErrMoved)
)

func ownerOf(p authz.Principal) Owner { return Owner{p.Kind, p.ID} }

// mayOwn says who can have memories: not guests, and no part of the program.
func mayOwn(p authz.Principal) bool {
	return p.ID != "" && (p.Kind == authz.User || p.Kind == authz.Application)
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
	if !p.Has(MemoryRead.ID) || !mayOwn(p) {
		return "", nil
	}
	list, err := s.store.always(ctx, s.db, ownerOf(p), p.Has(s.systemRead.ID), maxAlways)
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
