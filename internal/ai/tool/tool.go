// Package tool says what an AI tool is: a name, a description, an effect, a
// schema, the rules a caller needs, and what to run. Domains make their tools
// in tools.go, either from an operation that exists (FromOperation) or by
// composing several (Define, DefineChange).
//
// A tool never holds more rights than its caller: the work is done by
// operation calls as the principal in the context. The effect is declared,
// never inferred, and decides everything about how a call runs; see
// ai/proposal, which is the only caller of Run and Preview.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
)

// Effect says what calling a tool does to the installation.
type Effect string

// The effects, spec/ai-platform.md 3.2.
const (
	Read        Effect = "read"        // changes nothing; runs directly
	Mutate      Effect = "mutate"      // can be undone by another change; proposed, then applied
	Destructive Effect = "destructive" // cannot be undone; always waits for a person
)

// Spec is what a domain declares about a tool.
type Spec struct {
	// Name is dotted, such as "catalog.listSystems".
	Name string
	// Description is for the model: what it does, when to use it, what to pass.
	// It is the same in every permission mode.
	Description string
	Effect      Effect
	// Access are the rules a caller must hold, all of them. FromOperation takes
	// the operation's.
	Access []authz.Rule
	// PeopleOnly keeps the tool from applications.
	PeopleOnly bool
}

// Preview is what a change would do, found without doing it.
type Preview[In any] struct {
	// Summary is one line for model and person.
	Summary string
	// Payload is what apply will run: an input of the same tool, completed with
	// what the dry run looked up (such as the version it read).
	Payload In
	// Before and After give the changed thing for the field diff; both nil for a
	// creation.
	Before, After any
	// Blocked says what must happen before this can be applied, such as another
	// proposal; empty means nothing. A blocked change can be proposed; applying
	// it is refused with this text and it keeps waiting.
	Blocked string
	// Private says that the change concerns nobody but its proposer, such as a
	// note of their own: no one else sees or decides it.
	Private bool
}

// Dry is a Preview in the form in which it is stored and shown.
type Dry struct {
	Summary string
	Payload json.RawMessage
	Diff    []Change
	Blocked string
	Private bool
}

// Tool is one registered tool.
type Tool struct {
	spec    Spec
	input   *operation.Schema
	output  *operation.Schema
	run     func(context.Context, json.RawMessage) (any, error)
	dryRun  func(context.Context, json.RawMessage) (Dry, error)
	project func(any) any
	hidden  []string
	outside bool
}

// FromOperation exposes a query as a read tool, with its schema and rules.
// project, if not nil, makes the leaner result that the model sees; it gets
// the operation's output and must not fail.
func FromOperation[In, Out any](op *operation.Op[In, Out], spec Spec, project func(*Out) any) Tool {
	d := op.Declaration()
	if spec.Name == "" {
		spec.Name = d.ID
	}
	if spec.Effect != Read || d.Kind != operation.Query {
		panic(fmt.Sprintf("tool %s: FromOperation is for queries; a change needs a dry run, use DefineChange", spec.Name))
	}
	spec.Access = d.Access
	t := Tool{spec: spec, input: op.Input(), output: op.Output(), run: op.CallJSON}
	if project != nil {
		t.output = nil
		t.project = func(v any) any {
			if out, ok := v.(*Out); ok {
				return project(out)
			}
			return v
		}
	}
	return t
}

// Define makes a read tool that composes operations.
func Define[In, Out any](spec Spec, run func(context.Context, In) (Out, error)) Tool {
	if spec.Effect != Read {
		panic(fmt.Sprintf("tool %s: Define is for reads; a change needs a dry run, use DefineChange", spec.Name))
	}
	return define(spec, run)
}

// DefineChange makes a tool that changes something. dryRun changes nothing: it
// checks, looks up and tells what would happen, or returns problem.Invalid with
// every issue. run is reached only through apply, with the payload that dryRun
// made.
func DefineChange[In, Out any](spec Spec, dryRun func(context.Context, In) (Preview[In], error), run func(context.Context, In) (Out, error)) Tool {
	if spec.Effect != Mutate && spec.Effect != Destructive {
		panic(fmt.Sprintf("tool %s: effect of a change must be mutate or destructive", spec.Name))
	}
	t := define(spec, run)
	t.dryRun = func(ctx context.Context, raw json.RawMessage) (Dry, error) {
		var in In
		if err := t.input.Decode(raw, &in); err != nil {
			return Dry{}, err
		}
		p, err := dryRun(ctx, in)
		if err != nil {
			return Dry{}, err
		}
		payload, err := json.Marshal(p.Payload)
		if err != nil {
			return Dry{}, fmt.Errorf("payload of %s: %w", spec.Name, err)
		}
		dry := Dry{Summary: p.Summary, Payload: payload, Blocked: p.Blocked, Private: p.Private}
		if p.Before != nil || p.After != nil {
			if dry.Diff, err = Diff(p.Before, p.After); err != nil {
				return Dry{}, fmt.Errorf("diff of %s: %w", spec.Name, err)
			}
		}
		return dry, nil
	}
	return t
}

func define[In, Out any](spec Spec, run func(context.Context, In) (Out, error)) Tool {
	input := operation.SchemaOf[In]()
	return Tool{spec: spec, input: input, output: operation.SchemaOf[Out](),
		run: func(ctx context.Context, raw json.RawMessage) (any, error) {
			var in In
			if err := input.Decode(raw, &in); err != nil {
				return nil, err
			}
			return run(ctx, in)
		}}
}

// Hiding gives the tool with the names of further input keys, at any depth,
// whose values are credentials: those that the schema cannot mark with x-secret
// because it leaves that part of the input open. They are never shown or
// stored in the clear.
func (t Tool) Hiding(keys ...string) Tool {
	t.hidden = append(slices.Clone(t.hidden), keys...)
	return t
}

// Hidden gives the keys named with Hiding.
func (t Tool) Hidden() []string { return t.hidden }

// Outside gives the tool marked as one whose calls are noticed outside of
// Checkstack, such as a request to somebody else's server.
func (t Tool) Outside() Tool {
	t.outside = true
	return t
}

// ReachesOut says whether the tool is marked with Outside.
func (t Tool) ReachesOut() bool { return t.outside }

// Name gives the dotted name.
func (t Tool) Name() string { return t.spec.Name }

// WireName gives the name model providers see: dots become underscores.
func (t Tool) WireName() string { return WireName(t.spec.Name) }

// Description gives the text for the model.
func (t Tool) Description() string { return t.spec.Description }

// Effect gives the declared effect.
func (t Tool) Effect() Effect { return t.spec.Effect }

// Access gives the rules a caller must hold.
func (t Tool) Access() []authz.Rule { return t.spec.Access }

// Input gives the schema of the arguments.
func (t Tool) Input() *operation.Schema { return t.input }

// Output gives the schema of the result, nil when a projection shapes it.
func (t Tool) Output() *operation.Schema { return t.output }

// Validate checks arguments against the schema without running anything.
func (t Tool) Validate(raw json.RawMessage) error { return t.input.Check(raw) }

// Run does the work as the principal in ctx and gives the full result. Only
// ai/proposal calls it, after its gate.
func (t Tool) Run(ctx context.Context, raw json.RawMessage) (any, error) { return t.run(ctx, raw) }

// Preview runs the dry run as the principal in ctx.
func (t Tool) Preview(ctx context.Context, raw json.RawMessage) (Dry, error) {
	return t.dryRun(ctx, raw)
}

// Lean gives the form of a result that the model sees.
func (t Tool) Lean(result any) any {
	if t.project == nil {
		return result
	}
	return t.project(result)
}

// Allowed says whether p holds every rule of the tool.
func (t Tool) Allowed(p authz.Principal) bool {
	return len(p.Missing(t.spec.Access...)) == 0 && (!t.spec.PeopleOnly || p.Kind == authz.User)
}

// WireName turns a dotted tool name into the form model providers accept.
func WireName(name string) string { return strings.ReplaceAll(name, ".", "_") }

var wirePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Registry is every tool of the running product, the same on every replica.
type Registry struct {
	tools  []Tool
	byWire map[string]Tool
}

// NewRegistry collects tools. A missing effect, an illegal name, an empty
// description or two names that are one on the wire are start-up errors.
func NewRegistry(groups ...[]Tool) (*Registry, error) {
	r := &Registry{byWire: map[string]Tool{}}
	for _, tools := range groups {
		for _, t := range tools {
			wire := t.WireName()
			switch {
			case !strings.Contains(t.Name(), "."):
				return nil, fmt.Errorf("tool %q: the name must be <plugin>.<tool>", t.Name())
			case !wirePattern.MatchString(wire):
				return nil, fmt.Errorf("tool %q: providers accept only letters, digits, _ and -, at most 64", t.Name())
			case !slices.Contains([]Effect{Read, Mutate, Destructive}, t.Effect()):
				return nil, fmt.Errorf("tool %q: the effect is missing", t.Name())
			case t.Description() == "":
				return nil, fmt.Errorf("tool %q: the description is missing", t.Name())
			case len(t.Access()) == 0:
				return nil, fmt.Errorf("tool %q: the access rules are missing", t.Name())
			}
			if other, dup := r.byWire[wire]; dup {
				return nil, fmt.Errorf("tools %q and %q have the same name towards model providers", other.Name(), t.Name())
			}
			r.byWire[wire] = t
			r.tools = append(r.tools, t)
		}
	}
	return r, nil
}

// All gives the tools in the order they were registered.
func (r *Registry) All() []Tool { return r.tools }

// Get finds a tool by its dotted or its wire name.
func (r *Registry) Get(name string) (Tool, bool) {
	t, ok := r.byWire[WireName(name)]
	return t, ok
}

// For gives the tools that p may use.
func (r *Registry) For(p authz.Principal) []Tool {
	var out []Tool
	for _, t := range r.tools {
		if t.Allowed(p) {
			out = append(out, t)
		}
	}
	return out
}
