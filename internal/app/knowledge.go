package app

import (
	"context"

	"github.com/checkstack/checkstack/docs"
	"github.com/checkstack/checkstack/internal/ai/agent"
	"github.com/checkstack/checkstack/internal/ai/knowledge"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/healthcheck"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

// newKnowledge gives the assistant what it can look up and keep.
func newKnowledge(a *application, d *domains) (*knowledge.Service, error) {
	return knowledge.New(knowledge.Deps{DB: a.db, Docs: docs.Pages, Systems: d.catalog, People: d.identity, Chat: agent.RuleChat,
		SystemRead: catalog.SystemRead, SystemManage: catalog.SystemManage, Log: a.log,
		Capabilities: []knowledge.CapabilityContext{healthCapabilities(d.healthcheck)}})
}

// healthCapabilities lists the kinds of checks and what each can measure.
func healthCapabilities(h *healthcheck.Service) knowledge.CapabilityContext {
	return knowledge.CapabilityContext{Name: "healthcheck", About: "kinds of checks as strategy, and what each can measure as collector",
		List: func(ctx context.Context) ([]knowledge.Capability, error) {
			kinds, err := h.Kinds(ctx)
			if err != nil {
				return nil, err
			}
			var out []knowledge.Capability
			for _, k := range kinds {
				out = append(out, knowledge.Capability{ID: k.ID, DisplayName: k.DisplayName, Description: k.Description, Role: "strategy",
					Category: k.Category, Config: k.ConfigSchema})
				for _, c := range k.Collectors {
					out = append(out, collectorCapability(k.Category, c))
				}
			}
			return out, nil
		}}
}

func collectorCapability(category string, c healthcheck.CollectorKindBody) knowledge.Capability {
	all := strategy.AssertionOperators()
	fields := make([]knowledge.AssertionField, len(c.AssertionFields))
	operators := map[string][]string{}
	for i, f := range c.AssertionFields {
		fields[i] = knowledge.AssertionField{Field: f.Path, Kind: string(f.Kind)}
		operators[string(f.Kind)] = all[f.Kind]
	}
	return knowledge.Capability{ID: c.ID, DisplayName: c.DisplayName, Description: c.Description, Role: "collector", Category: category,
		Config: c.ConfigSchema, Result: c.ResultSchema, Fields: fields, Operators: operators}
}
