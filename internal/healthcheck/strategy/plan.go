package strategy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// plan is a draft that is ready to run: decoded, with compiled assertions. It
// is immutable and shared by concurrent runs.
type plan struct {
	entry      *entry
	config     planConfig
	collectors []*planCollector
	timeout    time.Duration
	scrub      *scrubber
	warnings   []string
	// fault is why the draft cannot run at all.
	fault string
}

type planCollector struct {
	id         string
	entry      *collectorEntry
	config     planConfig
	assertions []*assertion
}

// planConfig is decoded once, unless it has templates.
type planConfig struct {
	config    Config
	tree      map[string]any
	value     any
	templated bool
}

func (c *planConfig) render(t *TemplateContext) (any, error) {
	if !c.templated {
		return c.value, nil
	}
	return c.config.decode(c.config.Schema.walkTemplates(c.tree, t.render))
}

// compile prepares a stored draft. Unlike Validate it is lenient: unknown keys
// and unknown collectors are dropped, so that a downgrade keeps checks running.
func (r *Registry) compile(d Draft) *plan {
	e, ok := r.strategies[d.StrategyID]
	if !ok {
		return &plan{fault: "The strategy of this check is not available", scrub: &scrubber{}}
	}
	p := &plan{entry: e, timeout: fallbackTimeout, scrub: &scrubber{}}
	var secrets []string
	var fault string
	if p.config, fault = compileConfig("config", e.kind.Config, e.strategy, d.Config, &secrets); fault != "" {
		p.fault = fault
		return p
	}
	if n, ok := p.config.tree["timeout"].(json.Number); ok {
		if ms, err := n.Int64(); err == nil && ms > 0 {
			p.timeout = time.Duration(ms) * time.Millisecond
		}
	}
	for i, c := range d.Collectors {
		ce, ok := e.collectors[c.CollectorID]
		if !ok {
			p.warnings = append(p.warnings, fmt.Sprintf("collectors[%d] was skipped: its kind is not available", i))
			continue
		}
		pc := &planCollector{id: c.ID, entry: ce}
		path := fmt.Sprintf("collectors[%d].config", i)
		if pc.config, fault = compileConfig(path, ce.kind.Config, ce.collector, c.Config, &secrets); fault != "" {
			p.fault = fault
			return p
		}
		for _, a := range c.Assertions {
			a.Field = assertionField(a, ce.fields)
			pc.assertions = append(pc.assertions, prepareAssertion(a, ce.fields))
		}
		p.collectors = append(p.collectors, pc)
	}
	if len(p.collectors) == 0 && e.kind.NeedsCollector {
		p.fault = "This check has no collector, so nothing was measured"
	}
	p.scrub = newScrubber(secrets)
	return p
}

func compileConfig(path string, c Config, kind any, raw json.RawMessage, secrets *[]string) (planConfig, string) {
	tree, err := parseObject(raw)
	if err != nil {
		return planConfig{}, invalidConfig([]problem.Issue{{Path: path, Message: err.Error()}})
	}
	c.upgrade(tree)
	c.Schema.prune(tree, true)
	c.Schema.fill(tree)
	if issues := c.Schema.validate(path, tree); len(issues) > 0 {
		return planConfig{}, invalidConfig(issues)
	}
	out := planConfig{config: c, tree: tree, templated: c.Schema.hasTemplates(tree)}
	unresolved := ""
	c.Schema.walkSecrets(tree, path, func(_ *Schema, at string, parent map[string]any, name string) {
		if value, ok := parent[name].(string); ok && value != "" {
			*secrets = append(*secrets, value)
			if secretReference.MatchString(value) {
				unresolved = at
			}
		}
	})
	if unresolved != "" {
		return planConfig{}, "The secret that " + unresolved + " refers to could not be resolved"
	}
	if out.value, err = c.decode(tree); err != nil {
		return planConfig{}, invalidConfig([]problem.Issue{{Path: path, Message: "cannot be read"}})
	}
	if m, ok := kind.(Masker); ok {
		*secrets = append(*secrets, m.SecretForms(out.value)...)
	}
	return out, ""
}

func invalidConfig(issues []problem.Issue) string {
	return "The configuration of this check is not valid: " + issues[0].Path + ": " + issues[0].Message
}

// cacheGeneration is how many plans one generation keeps, about 3 KB each.
const cacheGeneration = 8192

// planCache remembers plans by the content of their draft, in two generations:
// when the young one is full it becomes the old one, and what is still used
// moves back. So it is bounded, never stale, and costs one lookup.
type planCache struct {
	mu         sync.Mutex
	limit      int
	young, old map[[32]byte]*plan
}

func newPlanCache(limit int) *planCache {
	return &planCache{limit: limit, young: map[[32]byte]*plan{}}
}

func (c *planCache) get(d Draft, compile func(Draft) *plan) *plan {
	key := draftKey(d)
	c.mu.Lock()
	p, ok := c.young[key]
	if !ok {
		if p, ok = c.old[key]; ok {
			c.put(key, p)
		}
	}
	c.mu.Unlock()
	if ok {
		return p
	}
	p = compile(d)
	c.mu.Lock()
	c.put(key, p)
	c.mu.Unlock()
	return p
}

func (c *planCache) put(key [32]byte, p *plan) {
	if len(c.young) >= c.limit {
		c.old, c.young = c.young, make(map[[32]byte]*plan, c.limit)
	}
	c.young[key] = p
}

// draftKey hashes everything that compile reads, each part with its length.
func draftKey(d Draft) [32]byte {
	buf := make([]byte, 0, 1024)
	add := func(part string) {
		buf = binary.AppendUvarint(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	add(d.StrategyID)
	add(string(d.Config))
	for _, c := range d.Collectors {
		add(c.ID)
		add(c.CollectorID)
		add(string(c.Config))
		buf = binary.AppendUvarint(buf, uint64(len(c.Assertions)))
		for _, a := range c.Assertions {
			add(a.Field)
			add(a.JSONPath)
			add(a.Operator)
			add(string(a.Value))
		}
	}
	return sha256.Sum256(buf)
}
