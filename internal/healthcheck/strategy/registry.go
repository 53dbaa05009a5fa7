package strategy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Registry holds the kinds of checks of this build. It is safe for concurrent
// use and starts no goroutine of its own.
type Registry struct {
	strategies map[string]*entry
	order      []*entry
	cache      *planCache
}

type entry struct {
	strategy   Strategy
	kind       Kind
	collectors map[string]*collectorEntry
	order      []*collectorEntry
}

type collectorEntry struct {
	collector Collector
	kind      CollectorKind
	fields    []AssertionField
	ephemeral []string
}

// Info describes a strategy to a form or a model.
type Info struct {
	ID           string  `json:"id"`
	DisplayName  string  `json:"displayName"`
	Description  string  `json:"description"`
	Category     string  `json:"category"`
	ConfigSchema *Schema `json:"configSchema"`
	ResultSchema *Schema `json:"resultSchema"`
}

// CollectorInfo describes a collector to a form or a model.
type CollectorInfo struct {
	ID              string           `json:"id"`
	DisplayName     string           `json:"displayName"`
	Description     string           `json:"description"`
	ConfigSchema    *Schema          `json:"configSchema"`
	ResultSchema    *Schema          `json:"resultSchema"`
	AllowMultiple   bool             `json:"allowMultiple"`
	AssertionFields []AssertionField `json:"assertionFields"`
}

// NewRegistry checks the kinds and lists every fault: a duplicate id, a bad
// schema, a field that is both secret and templatable, a gap between versions.
func NewRegistry(strategies ...Strategy) (*Registry, error) {
	r := &Registry{strategies: map[string]*entry{}, cache: newPlanCache(cacheGeneration)}
	var faults []error
	collectorIDs := map[string]bool{}
	for _, s := range strategies {
		e := &entry{strategy: s, kind: s.Kind(), collectors: map[string]*collectorEntry{}}
		id := e.kind.ID
		faults = append(faults, checkID("strategy", id, r.strategies[id] != nil)...)
		faults = append(faults, e.kind.Config.faults(id)...)
		faults = append(faults, resultFaults(id, e.kind.Result)...)
		if e.kind.Config.Schema != nil && e.kind.Config.Schema.property("timeout") == nil {
			faults = append(faults, fmt.Errorf("strategy %q: config has no timeout", id))
		}
		for _, c := range s.Collectors() {
			kind := c.Kind()
			faults = append(faults, checkID("collector", kind.ID, collectorIDs[kind.ID])...)
			faults = append(faults, kind.Config.faults(kind.ID)...)
			faults = append(faults, resultFaults(kind.ID, kind.Result)...)
			collectorIDs[kind.ID] = true
			if kind.Result == nil {
				continue
			}
			ce := &collectorEntry{collector: c, kind: kind, fields: assertionFields(kind.Result)}
			for _, p := range kind.Result.Properties {
				if p.Ephemeral {
					ce.ephemeral = append(ce.ephemeral, p.Name)
				}
			}
			e.collectors[kind.ID] = ce
			e.order = append(e.order, ce)
		}
		r.strategies[id] = e
		r.order = append(r.order, e)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("register check kinds: %w", err)
	}
	return r, nil
}

func checkID(what, id string, duplicate bool) []error {
	plugin, local, ok := strings.Cut(id, ".")
	switch {
	case !ok || plugin == "" || local == "":
		return []error{fmt.Errorf("%s %q: id is not qualified as <plugin>.<local>", what, id)}
	case duplicate:
		return []error{fmt.Errorf("%s %q is registered twice", what, id)}
	}
	return nil
}

func resultFaults(id string, s *Schema) []error {
	if s == nil || s.Type != "object" {
		return []error{fmt.Errorf("%q: result schema is not an object", id)}
	}
	var out []error
	for _, text := range s.problems("result", false, map[string]bool{}) {
		out = append(out, fmt.Errorf("%q: %s", id, text))
	}
	for i := range s.Properties {
		if hasEphemeral(s.Properties[i].Properties) {
			out = append(out, fmt.Errorf("%q: only a top-level result can be ephemeral", id))
		}
	}
	return out
}

func hasEphemeral(properties []Property) bool {
	return slices.ContainsFunc(properties, func(p Property) bool {
		return p.Ephemeral || hasEphemeral(p.Properties)
	})
}

func (c Config) faults(id string) []error {
	if c.Schema == nil || c.Schema.Type != "object" || c.Decode == nil {
		return []error{fmt.Errorf("%q: config needs an object schema and Decode", id)}
	}
	var out []error
	for _, text := range c.Schema.problems("config", false, map[string]bool{}) {
		out = append(out, fmt.Errorf("%q: %s", id, text))
	}
	if c.Version < 1 || len(c.Upgrades) != c.Version-1 {
		out = append(out, fmt.Errorf("%q: config version %d needs exactly %d upgrades, has %d", id, c.Version, c.Version-1, len(c.Upgrades)))
	}
	for i, u := range c.Upgrades {
		if u.From != i+1 || u.Apply == nil {
			out = append(out, fmt.Errorf("%q: upgrade %d must lead from version %d", id, i, i+1))
		}
	}
	return out
}

// upgrade brings a stored config, which counts as version 1, to the present one.
func (c Config) upgrade(tree map[string]any) {
	for _, u := range c.Upgrades {
		u.Apply(tree)
	}
}

func (c Config) decode(tree any) (any, error) {
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("decode config: %w", err)
	}
	return c.Decode(raw)
}

func (r *Registry) ids() []string {
	out := make([]string, len(r.order))
	for i, e := range r.order {
		out[i] = e.kind.ID
	}
	return out
}

func (e *entry) collectorIDs() []string {
	out := make([]string, len(e.order))
	for i, c := range e.order {
		out[i] = c.kind.ID
	}
	return out
}

// List describes every strategy, in the order of registration.
func (r *Registry) List() []Info {
	out := make([]Info, len(r.order))
	for i, e := range r.order {
		out[i] = e.info()
	}
	return out
}

// Get describes one strategy.
func (r *Registry) Get(id string) (Info, bool) {
	e, ok := r.strategies[id]
	if !ok {
		return Info{}, false
	}
	return e.info(), true
}

func (e *entry) info() Info {
	k := e.kind
	return Info{k.ID, k.DisplayName, k.Description, k.Category, k.Config.Schema, k.Result}
}

// Collectors describes the collectors of a strategy; an unknown one has none.
func (r *Registry) Collectors(strategyID string) []CollectorInfo {
	e, ok := r.strategies[strategyID]
	if !ok {
		return []CollectorInfo{}
	}
	out := make([]CollectorInfo, len(e.order))
	for i, c := range e.order {
		k := c.kind
		out[i] = CollectorInfo{
			k.ID, k.DisplayName, k.Description, k.Config.Schema, k.Result, k.AllowMultiple, slices.Clone(c.fields),
		}
	}
	return out
}

// Normalize gives the draft as it should be stored: configs upgraded and with
// their defaults, new collectors with an id (UUIDv7), assertions in their
// stored form. What cannot be read is left as it is; Validate reports it.
func (r *Registry) Normalize(d Draft) Draft {
	e := r.strategies[d.StrategyID]
	if e != nil {
		d.Config = e.kind.Config.normalize(d.Config)
	}
	d.Collectors = slices.Clone(d.Collectors)
	for i := range d.Collectors {
		c := &d.Collectors[i]
		c.ID = strings.ToLower(c.ID)
		if c.ID == "" {
			c.ID = uuid.Must(uuid.NewV7()).String()
		}
		if e == nil || e.collectors[c.CollectorID] == nil {
			continue
		}
		ce := e.collectors[c.CollectorID]
		c.Config = ce.kind.Config.normalize(c.Config)
		c.Assertions = slices.Clone(c.Assertions)
		for j := range c.Assertions {
			a := &c.Assertions[j]
			a.Field = assertionField(*a, ce.fields)
			if op, ok := operators[a.Operator]; ok && op.value == noValue || string(a.Value) == "null" {
				a.Value = nil
			}
		}
	}
	return d
}

func (c Config) normalize(raw json.RawMessage) json.RawMessage {
	tree, err := parseObject(raw)
	if err != nil {
		return raw
	}
	c.upgrade(tree)
	c.Schema.prune(tree, false)
	c.Schema.fill(tree)
	out, err := json.Marshal(tree)
	if err != nil {
		return raw
	}
	return out
}
