package knowledge

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// Target says where a skill can be used.
type Target string

// The targets, spec/ai-platform.md 39.
const (
	TargetChat    Target = "chat"       // chosen in the chat, for one message
	TargetAnalyze Target = "ai_analyze" // runs without a person
)

// Source says where a skill comes from.
type Source string

// The sources of skills.
const (
	SourceBuiltin Source = "builtin" // part of the program, the same everywhere
	SourceUser    Source = "user"    // published by a person, for everybody
)

const (
	maxSkillName        = 100  // characters
	maxSkillDescription = 500  // characters
	maxSkillPrompt      = 8000 // characters
	maxSkillTemplate    = 4000 // characters
	maxSkillFields      = 20
	maxSkillOptions     = 20
	// maxSkills bounds what an installation can gather, because all are listed.
	maxSkills = 200
)

// Skill is a way of working that a person can pick: what to pay attention to
// and how to answer. It grants nothing.
type Skill struct {
	ID          string // "<plugin>.<name>" of a built-in one, else a UUID
	Name        string
	Description string
	Targets     []Target
	// SystemPrompt is the guidance; PromptTemplate is a text to begin with.
	SystemPrompt   string
	PromptTemplate string
	OutputFields   []OutputField
	Tags           []string
	Source         Source
	OwnerID        string // of one that a person published
	OwnerName      string
	Version        int64 // 0 for a built-in one
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// OutputField is a field of a structured answer that the skill suggests.
type OutputField struct {
	Key         string   `json:"key" minLength:"1" maxLength:"50" pattern:"^[a-z][a-zA-Z0-9_]*$"`
	Type        string   `json:"type" enum:"string,number,boolean,enum"`
	Description string   `json:"description" maxLength:"300"`
	Options     []string `json:"options,omitempty" maxItems:"20" doc:"The values of an enum"`
}

var errNoSkill = problem.NotFound("There is no such skill, or it is not yours to change")

// check brings the texts to their stored form and lists every fault.
func (k *Skill) check() []problem.Issue {
	k.Name, k.Description = text.Clean(k.Name), text.Clean(k.Description)
	k.SystemPrompt, k.PromptTemplate = text.Clean(k.SystemPrompt), text.Clean(k.PromptTemplate)
	issues := text.Line("name", k.Name, maxSkillName)
	issues = append(issues, text.Message("description", k.Description, maxSkillDescription)...)
	issues = append(issues, text.Block("systemPrompt", k.SystemPrompt, maxSkillPrompt)...)
	issues = append(issues, text.Block("promptTemplate", k.PromptTemplate, maxSkillTemplate)...)
	if text.Blank(k.SystemPrompt) && text.Blank(k.PromptTemplate) {
		issues = append(issues, problem.Issue{Path: "systemPrompt", Message: "a skill needs a guidance (systemPrompt) or a text to begin with (promptTemplate)"})
	}
	for _, f := range []struct{ path, text string }{{"name", k.Name}, {"description", k.Description}, {"systemPrompt", k.SystemPrompt}, {"promptTemplate", k.PromptTemplate}} {
		issues = append(issues, noCredential(f.path, f.text)...)
	}
	issues = append(issues, k.checkTargets()...)
	tags, more := cleanTags(k.Tags)
	k.Tags = tags
	return append(append(issues, more...), k.checkFields()...)
}

func (k *Skill) checkTargets() []problem.Issue {
	slices.Sort(k.Targets)
	k.Targets = slices.Compact(k.Targets)
	if len(k.Targets) == 0 {
		return []problem.Issue{{Path: "targets", Message: "must name chat, ai_analyze or both"}}
	}
	for i, t := range k.Targets {
		if t != TargetChat && t != TargetAnalyze {
			return []problem.Issue{{Path: fmt.Sprintf("targets[%d]", i), Message: "must be chat or ai_analyze"}}
		}
	}
	slices.Reverse(k.Targets) // chat first
	return nil
}

var fieldKey = regexp.MustCompile(`^[a-z][a-zA-Z0-9_]{0,49}$`)

func (k *Skill) checkFields() []problem.Issue {
	var issues []problem.Issue
	if len(k.OutputFields) > maxSkillFields {
		return []problem.Issue{{Path: "suggestedOutputFields", Message: fmt.Sprintf("must be at most %d", maxSkillFields)}}
	}
	keys := map[string]bool{}
	for i := range k.OutputFields {
		f := &k.OutputFields[i]
		path := fmt.Sprintf("suggestedOutputFields[%d]", i)
		add := func(name, message string) {
			issues = append(issues, problem.Issue{Path: path + "." + name, Message: message})
		}
		switch {
		case !fieldKey.MatchString(f.Key):
			add("key", "must begin with a small letter and have letters, digits and _ only, at most 50")
		case keys[f.Key]:
			add("key", "another field has the same key")
		}
		keys[f.Key] = true
		if !slices.Contains([]string{"string", "number", "boolean", "enum"}, f.Type) {
			add("type", "must be string, number, boolean or enum")
		}
		f.Description = text.Clean(f.Description)
		issues = append(issues, text.Block(path+".description", f.Description, 300)...)
		issues = append(issues, noCredential(path+".description", f.Description)...)
		switch {
		case f.Type == "enum" && (len(f.Options) == 0 || len(f.Options) > maxSkillOptions):
			add("options", fmt.Sprintf("an enum needs 1 to %d values", maxSkillOptions))
		case f.Type != "enum" && len(f.Options) > 0:
			add("options", "only an enum has values")
		}
		for j, o := range f.Options {
			f.Options[j] = text.Clean(o)
			issues = append(issues, text.Line(fmt.Sprintf("%s.options[%d]", path, j), f.Options[j], 100)...)
			if slices.Contains(f.Options[:j], f.Options[j]) {
				add(fmt.Sprintf("options[%d]", j), "is there twice")
			}
		}
	}
	return issues
}

var builtinID = regexp.MustCompile(`^[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*$`)

// checkBuiltins holds the skills of the program to the rules of those that
// people write.
func checkBuiltins(list []Skill) ([]Skill, error) {
	seen := map[string]bool{}
	for i := range list {
		k := &list[i]
		if !builtinID.MatchString(k.ID) {
			return nil, fmt.Errorf("built-in skill %q: the id must be <plugin>.<name> in small letters, digits and dashes", k.ID)
		}
		if seen[k.ID] {
			return nil, fmt.Errorf("built-in skill %q is declared twice", k.ID)
		}
		seen[k.ID] = true
		if err := problem.InputIssues(k.check()); err != nil {
			return nil, fmt.Errorf("built-in skill %q: %w", k.ID, err)
		}
		k.Source = SourceBuiltin
	}
	return list, nil
}

// Skills lists the built-in skills and then those of people, changed last
// first; target, if not empty, keeps those for it.
func (s *Service) Skills(ctx context.Context, target Target) ([]Skill, error) {
	own, err := s.store.skills(ctx, s.db.Read)
	if err != nil {
		return nil, err
	}
	list := slices.Concat(s.builtins, own)
	if target != "" {
		list = slices.DeleteFunc(list, func(k Skill) bool { return !slices.Contains(k.Targets, target) })
	}
	return list, s.nameOwners(ctx, list)
}

// Skill gives one skill, built-in ones first.
func (s *Service) Skill(ctx context.Context, id string) (Skill, error) {
	if i := slices.IndexFunc(s.builtins, func(k Skill) bool { return k.ID == id }); i >= 0 {
		return s.builtins[i], nil
	}
	k, err := s.store.skill(ctx, s.db.Read, id)
	if err != nil {
		return Skill{}, err
	}
	list := []Skill{k}
	err = s.nameOwners(ctx, list)
	return list[0], err
}

func (s *Service) nameOwners(ctx context.Context, list []Skill) error {
	var ids []string
	for _, k := range list {
		if k.OwnerID != "" && !slices.Contains(ids, k.OwnerID) {
			ids = append(ids, k.OwnerID)
		}
	}
	if len(ids) == 0 || s.people == nil {
		return nil
	}
	names, err := s.people.Names(ctx, ids)
	if err != nil {
		return fmt.Errorf("name authors of skills: %w", err)
	}
	for i := range list {
		list[i].OwnerName = names[list[i].OwnerID]
	}
	return nil
}

// mayEdit says who may change a skill: its author, and administrators. Built-in
// ones nobody.
func mayEdit(p authz.Principal, k *Skill) bool {
	return k.Source == SourceUser && p.Has(SkillManage.ID) && (k.OwnerID == p.ID || wildcard(p))
}

// CreateSkill publishes a skill for everybody.
func (s *Service) CreateSkill(ctx context.Context, p authz.Principal, k Skill) (Skill, error) {
	if err := problem.InputIssues(k.check()); err != nil {
		return Skill{}, err
	}
	now := s.clock()
	k.ID, k.Source, k.OwnerID, k.Version, k.CreatedAt, k.UpdatedAt = newID(), SourceUser, p.ID, 1, now, now
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.db.LockKey(ctx, tx, "ai.skills"); err != nil {
			return err
		}
		n, err := s.store.countSkills(ctx, tx)
		switch {
		case err != nil:
			return err
		case n >= maxSkills:
			return problem.Conflict("There are %d skills already; delete one first", maxSkills)
		}
		return s.store.insertSkill(ctx, tx, &k)
	})
	if err != nil {
		return Skill{}, err
	}
	list := []Skill{k}
	err = s.nameOwners(ctx, list)
	return list[0], err
}

// UpdateSkill changes a skill. version, if not zero, must be the present one.
func (s *Service) UpdateSkill(ctx context.Context, p authz.Principal, id string, version int64, change func(*Skill)) (Skill, error) {
	var list []Skill
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		k, err := s.editable(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if version != 0 && version != k.Version {
			return errMoved
		}
		change(&k)
		if err := problem.InputIssues(k.check()); err != nil {
			return err
		}
		before := k.Version
		k.Version, k.UpdatedAt = before+1, s.clock()
		list = []Skill{k}
		return s.store.updateSkill(ctx, tx, &k, before)
	})
	if err != nil {
		return Skill{}, err
	}
	err = s.nameOwners(ctx, list)
	return list[0], err
}

// DeleteSkill removes a skill.
func (s *Service) DeleteSkill(ctx context.Context, p authz.Principal, id string) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.editable(ctx, tx, p, id); err != nil {
			return err
		}
		return s.store.deleteSkill(ctx, tx, id)
	})
}

func (s *Service) editable(ctx context.Context, idb bun.IDB, p authz.Principal, id string) (Skill, error) {
	if slices.ContainsFunc(s.builtins, func(k Skill) bool { return k.ID == id }) {
		return Skill{}, problem.Conflict("Built-in skills cannot be changed; publish one of your own instead")
	}
	k, err := s.store.skill(ctx, idb, id)
	if err == nil && !mayEdit(p, &k) {
		err = errNoSkill
	}
	return k, err
}

// SkillPrompt gives the guidance of a skill for the chat; empty when there is
// no such skill, it is not for the chat, has no guidance, or the caller may not
// use skills. The text is people's: it goes to a model as data.
func (s *Service) SkillPrompt(ctx context.Context, id string) (string, error) {
	if id == "" || !authz.From(ctx).Has(SkillRead.ID) {
		return "", nil
	}
	k, err := s.Skill(ctx, id)
	if errors.Is(err, errNoSkill) {
		return "", nil
	}
	if err != nil || !slices.Contains(k.Targets, TargetChat) || k.SystemPrompt == "" {
		return "", err
	}
	return fmt.Sprintf("Skill %q\n%s", k.Name, k.SystemPrompt), nil
}
