// Package operation is the spine of Checkstack: a domain declares each
// capability once, and from that declaration come the REST endpoint, the
// OpenAPI entry, the in-process call and, if the domain says so, an AI tool.
//
// All of them run the same chain, in call.go: who may call, access rules,
// input checked against the schema, handler. There is no second path, so a
// rule cannot be forgotten on one of them. A handler is a plain function; the
// caller is the authz.Principal in its context.
//
// Read declaration in operation.go, the chain in call.go, HTTP in rest.go.
package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/checkstack/checkstack/internal/authz"
)

// Kind says whether an operation changes anything.
type Kind string

// The kinds of operation.
const (
	Query    Kind = "query"
	Mutation Kind = "mutation"
)

// Caller says which principals may call, before any rule is looked at;
// spec/platform.md 6.2.
type Caller string

// The callers. Leaving it out is a start-up error: openness is written down.
const (
	Anonymous     Caller = "anonymous"     // everyone; no rules apply
	Public        Caller = "public"        // everyone who holds the rules, a guest through the role "anonymous"
	UserOnly      Caller = "user"          // people only
	Authenticated Caller = "authenticated" // people and applications
)

// Declaration is everything about an operation but its types and handler.
type Declaration struct {
	// ID is "<plugin>.<procedure>", such as "catalog.createSystem".
	ID   string
	Kind Kind
	// Summary is one line for the API description.
	Summary string
	// Description is for the API description, when the summary is not enough.
	Description string
	Caller      Caller
	// Access are the rules the caller must hold, all of them. Leave it empty
	// only together with NoRule.
	Access []authz.Rule
	// NoRule states that being the right kind of caller is enough.
	NoRule bool
	// Method overrides the REST method of the naming rule.
	Method string
}

// Operation is one declared capability, whatever its types.
type Operation interface {
	// Declaration gives the declaration with its defaults filled in.
	Declaration() Declaration
	// Input and Output give the schemas.
	Input() *Schema
	Output() *Schema
	// CallJSON runs the whole chain on a JSON input as the principal in ctx.
	CallJSON(ctx context.Context, input json.RawMessage) (any, error)
	// callValue is CallJSON for an input that is already parsed.
	callValue(ctx context.Context, value any) (any, error)
}

// Op is a declared operation with its types.
type Op[In, Out any] struct {
	decl    Declaration
	input   *Schema
	output  *Schema
	handler func(context.Context, *In) (*Out, error)
}

// Empty is the input or output of an operation that has none.
type Empty struct{}

var idPattern = regexp.MustCompile(`^[a-z][a-z0-9-]*\.[a-z][A-Za-z0-9]*$`)

// New declares an operation. It panics on a declaration that is incomplete,
// which is a programmer's mistake found at start-up.
func New[In, Out any](d Declaration, handler func(context.Context, *In) (*Out, error)) *Op[In, Out] {
	switch {
	case !idPattern.MatchString(d.ID):
		panic(fmt.Sprintf("operation %q: id must be <plugin>.<procedure>", d.ID))
	case d.Kind != Query && d.Kind != Mutation:
		panic(fmt.Sprintf("operation %s: kind must be query or mutation", d.ID))
	case d.Summary == "":
		panic(fmt.Sprintf("operation %s: summary is missing", d.ID))
	case d.Caller != Anonymous && d.Caller != Public && d.Caller != UserOnly && d.Caller != Authenticated:
		panic(fmt.Sprintf("operation %s: caller is missing", d.ID))
	case d.Caller == Anonymous && len(d.Access) > 0:
		panic(fmt.Sprintf("operation %s: rules never apply to caller anonymous", d.ID))
	case d.Caller != Anonymous && len(d.Access) == 0 && !d.NoRule:
		panic(fmt.Sprintf("operation %s: access rules are missing; write NoRule if none is meant", d.ID))
	case len(d.Access) > 0 && d.NoRule:
		panic(fmt.Sprintf("operation %s: NoRule contradicts its access rules", d.ID))
	case reflect.TypeFor[In]().Kind() != reflect.Struct || reflect.TypeFor[Out]().Kind() != reflect.Struct:
		panic(fmt.Sprintf("operation %s: input and output must be structs", d.ID))
	}
	if d.Method == "" {
		d.Method = defaultMethod(d)
	}
	return &Op[In, Out]{decl: d, input: SchemaOf[In](), output: SchemaOf[Out](), handler: handler}
}

// defaultMethod is the naming rule of spec/platform.md 6.7.
func defaultMethod(d Declaration) string {
	proc := d.ID[strings.IndexByte(d.ID, '.')+1:]
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(proc, p) {
				return true
			}
		}
		return false
	}
	switch {
	case d.Kind == Query && has("getBulk"):
		return http.MethodPost
	case d.Kind == Query:
		return http.MethodGet
	case has("update"):
		return http.MethodPatch
	case has("delete", "remove"):
		return http.MethodDelete
	default:
		return http.MethodPost
	}
}

// Declaration implements Operation.
func (o *Op[In, Out]) Declaration() Declaration { return o.decl }

// Input implements Operation.
func (o *Op[In, Out]) Input() *Schema { return o.input }

// Output implements Operation.
func (o *Op[In, Out]) Output() *Schema { return o.output }

// Plugin gives the part of the id before the dot, Procedure the part after it.
func (d Declaration) Plugin() string { return d.ID[:strings.IndexByte(d.ID, '.')] }

// Procedure gives the part of the id after the dot.
func (d Declaration) Procedure() string { return d.ID[strings.IndexByte(d.ID, '.')+1:] }

// Path gives the REST path.
func (d Declaration) Path() string { return "/rest/" + d.Plugin() + "/" + d.Procedure() }

// Set is all operations of the running product.
type Set struct {
	ops  []Operation
	byID map[string]Operation
}

// NewSet collects operations; two of one id are a programmer's mistake and
// panic.
func NewSet(groups ...[]Operation) *Set {
	s := &Set{byID: map[string]Operation{}}
	for _, ops := range groups {
		for _, op := range ops {
			id := op.Declaration().ID
			if _, dup := s.byID[id]; dup {
				panic("operation " + id + " is declared twice")
			}
			s.byID[id] = op
			s.ops = append(s.ops, op)
		}
	}
	return s
}

// All gives the operations in the order they were declared.
func (s *Set) All() []Operation { return s.ops }

// Rules gives every access rule that guards an operation, each once.
func (s *Set) Rules() []authz.Rule {
	seen := map[string]bool{}
	var rules []authz.Rule
	for _, op := range s.ops {
		for _, r := range op.Declaration().Access {
			if !seen[r.ID] {
				seen[r.ID] = true
				rules = append(rules, r)
			}
		}
	}
	return rules
}
