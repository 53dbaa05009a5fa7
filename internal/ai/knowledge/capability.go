package knowledge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// capabilityCap is how many entries a list may have before it leaves out the
// settings, spec/ai-platform.md 32.
const capabilityCap = 12

// CapabilityContext is one family of things an installation can be built from,
// contributed by a domain. List runs as the principal in ctx and refuses who
// may not read it.
type CapabilityContext struct {
	// Name is what a model passes, such as "healthcheck".
	Name string
	// About says in a few words what it lists, for the tool's description.
	About string
	List  func(ctx context.Context) ([]Capability, error)
}

// Capability is one kind in full.
type Capability struct {
	// ID is qualified.
	ID          string
	DisplayName string
	Description string
	// Role says what it is within its context, such as "strategy".
	Role     string
	Category string
	// Config is the JSON Schema of its settings, the one behind the form.
	Config json.RawMessage
	// Result is the JSON Schema of what it measures, Fields what assertions may
	// look at, and Operators what they may say about each kind of field; absent
	// for what has no assertions.
	Result    json.RawMessage
	Fields    []AssertionField
	Operators map[string][]string
	// Access are the rules that using it needs, absent when there are none.
	Access []string
}

// AssertionField is a part of a result that assertions may look at.
type AssertionField struct {
	Field string `json:"field"`
	Kind  string `json:"kind" doc:"Key of assertionOperators"`
}

type listCapabilitiesInput struct {
	Context string `json:"context" minLength:"1" maxLength:"50" doc:"What to list; the tool's description names the contexts"`
}

type capabilityEntry struct {
	ID            string         `json:"id"`
	DisplayName   string         `json:"displayName"`
	Description   string         `json:"description,omitempty"`
	Role          string         `json:"role"`
	Category      string         `json:"category,omitempty"`
	ConfigSummary []configOption `json:"configSummary,omitempty" doc:"The settings; left out of long lists"`
}

type configOption struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

type listCapabilitiesOutput struct {
	Context   string            `json:"context"`
	Entries   []capabilityEntry `json:"entries"`
	Truncated bool              `json:"truncated" doc:"The list is long, so it leaves out the settings; ai.getCapabilitySchema gives them for one kind"`
}

type getCapabilityInput struct {
	Context string `json:"context" minLength:"1" maxLength:"50" doc:"As for ai.listCapabilities"`
	Kind    string `json:"kind" minLength:"1" maxLength:"200" doc:"Id of the kind, from ai.listCapabilities"`
}

type capabilitySchema struct {
	Context             string              `json:"context"`
	ID                  string              `json:"id"`
	DisplayName         string              `json:"displayName"`
	Description         string              `json:"description,omitempty"`
	Role                string              `json:"role"`
	ConfigSchema        json.RawMessage     `json:"configSchema" doc:"JSON Schema of the settings"`
	ResultSchema        json.RawMessage     `json:"resultSchema,omitempty" doc:"JSON Schema of the result; its fields are what assertions may use"`
	AssertionFields     []AssertionField    `json:"assertionFields,omitempty" doc:"What assertions may look at"`
	AssertionOperators  map[string][]string `json:"assertionOperators,omitempty" doc:"Operators by kind of field"`
	RequiredAccessRules []string            `json:"requiredAccessRules,omitempty"`
}

func (s *Service) capabilityTools() []tool.Tool {
	abouts := make([]string, len(s.capabilities))
	for i, c := range s.capabilities {
		abouts[i] = fmt.Sprintf("%q (%s)", c.Name, c.About)
	}
	contexts := strings.Join(abouts, ", ")
	read := func(name, description string) tool.Spec {
		return tool.Spec{Name: "ai." + name, Effect: tool.Read, Access: []authz.Rule{s.chat}, Description: description}
	}
	return []tool.Tool{
		tool.Define(read("listCapabilities", "List the kinds of things that can be set up here, before you draft one. Contexts: "+contexts+"."), s.listCapabilities),
		tool.Define(read("getCapabilitySchema", "Get all settings of one kind from ai.listCapabilities, and what assertions can say about its result. Use it before you draft settings you are not sure of."), s.getCapability),
	}
}

func (s *Service) capabilitiesOf(ctx context.Context, name string) ([]Capability, error) {
	i := slices.IndexFunc(s.capabilities, func(c CapabilityContext) bool { return c.Name == name })
	if i < 0 {
		names := make([]string, len(s.capabilities))
		for i, c := range s.capabilities {
			names[i] = c.Name
		}
		return nil, problem.Field("context", "there is no such context; use one of: %s", strings.Join(names, ", "))
	}
	return s.capabilities[i].List(ctx)
}

func (s *Service) listCapabilities(ctx context.Context, in listCapabilitiesInput) (listCapabilitiesOutput, error) {
	list, err := s.capabilitiesOf(ctx, in.Context)
	if err != nil {
		return listCapabilitiesOutput{}, err
	}
	return summarize(in.Context, list, capabilityCap), nil
}

// summarize is the size gate: above the cap only what identifies a kind stays.
func summarize(name string, list []Capability, most int) listCapabilitiesOutput {
	out := listCapabilitiesOutput{Context: name, Entries: make([]capabilityEntry, len(list)), Truncated: len(list) > most}
	for i, c := range list {
		e := capabilityEntry{ID: c.ID, DisplayName: c.DisplayName, Description: c.Description, Role: c.Role, Category: c.Category}
		if !out.Truncated {
			e.ConfigSummary = configSummary(c.Config)
		}
		out.Entries[i] = e
	}
	return out
}

func (s *Service) getCapability(ctx context.Context, in getCapabilityInput) (capabilitySchema, error) {
	list, err := s.capabilitiesOf(ctx, in.Context)
	if err != nil {
		return capabilitySchema{}, err
	}
	i := slices.IndexFunc(list, func(c Capability) bool { return c.ID == in.Kind })
	if i < 0 {
		return capabilitySchema{}, problem.NotFound("There is no such kind in %q. The kinds are: %s", in.Context, strings.Join(idsOf(list), ", "))
	}
	c := list[i]
	return capabilitySchema{Context: in.Context, ID: c.ID, DisplayName: c.DisplayName, Description: c.Description, Role: c.Role,
		ConfigSchema: c.Config, ResultSchema: c.Result, AssertionFields: c.Fields, AssertionOperators: c.Operators, RequiredAccessRules: c.Access}, nil
}

func idsOf(list []Capability) []string {
	const shown = 40
	ids := make([]string, 0, min(len(list), shown+1))
	for i, c := range list {
		if i == shown {
			return append(ids, "…")
		}
		ids = append(ids, c.ID)
	}
	return ids
}

// configSummary gives a row per property of an object schema, in its order; nil
// when there are none.
func configSummary(raw json.RawMessage) []configOption {
	var schema struct {
		Properties orderedObject `json:"properties"`
		Required   []string      `json:"required"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	var out []configOption
	for _, p := range schema.Properties {
		out = append(out, configOption{Name: p.key, Type: typeLabel(p.value), Required: slices.Contains(schema.Required, p.key)})
	}
	return out
}

// orderedObject is a JSON object whose keys keep their order.
type orderedObject []member

type member struct {
	key   string
	value json.RawMessage
}

// UnmarshalJSON reads an object; anything else is an error.
func (o *orderedObject) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	switch t, err := dec.Token(); {
	case err != nil:
		return err
	case t != json.Delim('{'):
		return errors.New("not an object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		m := member{}
		m.key, _ = t.(string)
		if err := dec.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// typeLabel names the type of a field in one word.
func typeLabel(raw json.RawMessage) string {
	var f struct {
		Enum  []any           `json:"enum"`
		AnyOf []any           `json:"anyOf"`
		OneOf []any           `json:"oneOf"`
		Type  json.RawMessage `json:"type"`
	}
	if json.Unmarshal(raw, &f) != nil {
		return "unknown"
	}
	var one string
	var many []any
	switch {
	case len(f.Enum) > 0:
		return "enum"
	case len(f.AnyOf) > 0 || len(f.OneOf) > 0:
		return "union"
	case f.Type != nil && json.Unmarshal(f.Type, &one) == nil && one == "integer":
		return "number"
	case one != "":
		return one
	case f.Type != nil && json.Unmarshal(f.Type, &many) == nil:
		var names []string
		for _, t := range many {
			if s, ok := t.(string); ok {
				names = append(names, s)
			}
		}
		if len(names) > 0 {
			return strings.Join(names, "|")
		}
	}
	return "unknown"
}
