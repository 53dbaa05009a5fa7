package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/agent"
	"github.com/checkstack/checkstack/internal/ai/knowledge"
	"github.com/checkstack/checkstack/internal/ai/mcp"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/healthcheck"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy/standard"
	"github.com/checkstack/checkstack/internal/httpapi"
	"github.com/checkstack/checkstack/internal/identity"
	"github.com/checkstack/checkstack/internal/incident"
	"github.com/checkstack/checkstack/internal/maintenance"
	"github.com/checkstack/checkstack/internal/netguard"
	"github.com/checkstack/checkstack/internal/oauth"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/overview"
	"github.com/checkstack/checkstack/internal/secret"
	"github.com/checkstack/checkstack/web"
)

// domains is every domain of the product, connected.
type domains struct {
	identity    *identity.Service
	catalog     *catalog.Service
	healthcheck *healthcheck.Service
	incident    *incident.Service
	maintenance *maintenance.Service
	overview    *overview.Service
	knowledge   *knowledge.Service
	tools       *tool.Registry
	gate        *proposal.Gate
	agent       *agent.Service
	oauth       *oauth.Server
	mcp         *mcp.Server
	operations  *operation.Set
}

// newDomains builds the domains in the order in which they need each other,
// then the tools they offer, then the AI that drives the tools.
func newDomains(a *application, box *secret.Box) (*domains, error) {
	d := &domains{}
	d.identity = identity.New(identity.Deps{DB: a.db, Log: a.log,
		UserDeleted: []func(context.Context, bun.Tx, string) error{knowledge.ForgetUser}})
	a.jobs.Every("identity.sweep", 10*time.Minute, 0, d.identity.Sweep)

	d.catalog = catalog.New(a.db, a.signals, a.bus, a.log)

	kinds, err := standard.NewRegistry()
	if err != nil {
		return nil, err
	}
	d.healthcheck = healthcheck.New(healthcheck.Deps{DB: a.db, Secrets: a.secrets, Kinds: kinds, Systems: d.catalog,
		Signals: a.signals, Bus: a.bus, Log: a.log, OverrideRules: map[string]string{incidentSource: incident.Read.ID},
		Options: healthcheck.Options{Workers: a.cfg.CheckWorkers}})
	a.jobs.Every("healthcheck.retain", time.Hour, 10*time.Minute, d.healthcheck.Retain)

	d.incident = incident.New(incident.Deps{DB: a.db, Bus: a.bus, Signals: a.signals, Systems: d.catalog, Health: incidentHealth{d.healthcheck},
		Authors: d.identity, Log: a.log})
	d.maintenance = maintenance.New(maintenance.Deps{DB: a.db, Bus: a.bus, Signals: a.signals, Systems: d.catalog, Authors: d.identity, Log: a.log})

	d.overview = overview.New(overview.Deps{Systems: d.catalog, Log: a.log,
		Contributors: []overview.Contributor{healthIssues(d.healthcheck), incidentIssues(d.incident), maintenanceIssues(d.maintenance)},
		Activities:   []overview.ActivitySource{healthActivity(d.healthcheck), incidentActivity(d.incident), maintenanceActivity(d.maintenance)},
		Silencers: []overview.Silencer{{Source: maintenanceSource, Suppresses: d.maintenance.Suppresses},
			{Source: incidentSource, Suppresses: d.incident.Suppresses}}})

	if d.knowledge, err = newKnowledge(a, d); err != nil {
		return nil, err
	}
	d.tools, err = tool.NewRegistry(d.overview.Tools(catalog.SystemRead),
		d.catalog.Tools(dependents(d.healthcheck.DependentsOf, d.incident.DependentsOf, d.maintenance.DependentsOf, d.knowledge.DependentsOf)), d.healthcheck.Tools(), d.incident.Tools(), d.maintenance.Tools(), d.knowledge.Tools())
	if err != nil {
		return nil, err
	}
	d.gate, err = proposal.New(proposal.Deps{DB: a.db, Tools: d.tools, Box: box, Events: callEvents{a.signals}, People: d.identity, Log: a.log})
	if err != nil {
		return nil, err
	}
	a.jobs.Every("proposal.sweep", time.Minute, 0, d.gate.Sweep)
	a.jobs.Every("proposal.retain", time.Hour, 10*time.Minute, d.gate.Retain)
	d.agent = agent.New(agent.Deps{DB: a.db, Tools: d.tools, Gate: d.gate, Secrets: a.secrets, Log: a.log, Names: d.identity.Names,
		Changed: conversationChanged(a.signals), Memories: d.knowledge.MemoryPrompt, Skill: d.knowledge.SkillPrompt,
		HTTP: netguard.NewClient(netguard.Trusted, 0)})
	a.jobs.Every("agent.sweep", time.Minute, 0, d.agent.Sweep)

	d.oauth = newOAuth(a, d)
	a.jobs.Every("oauth.sweep", 10*time.Minute, 0, d.oauth.Sweep)
	if d.mcp, err = newMCP(a, d); err != nil {
		return nil, err
	}

	d.operations = operation.NewSet(d.identity.Operations(), d.catalog.Operations(), d.healthcheck.Operations(), d.incident.Operations(), d.maintenance.Operations(),
		d.overview.Operations(catalog.SystemRead), d.gate.Operations(), d.agent.Operations(), d.knowledge.Operations(), d.oauth.Operations())
	return d, nil
}

// rules gives every access rule that can be granted.
func (d *domains) rules() []authz.Rule {
	all := []authz.Rule{docsRead}
	for _, rules := range [][]authz.Rule{identity.Rules(), catalog.Rules(), healthcheck.Rules(), incident.Rules(), maintenance.Rules(), proposal.Rules(), agent.Rules(), knowledge.Rules(), oauth.Rules()} {
		all = append(all, rules...)
	}
	return all
}

func (d *domains) start(ctx context.Context) error {
	if err := d.agent.Recover(ctx); err != nil {
		return err
	}
	if err := d.maintenance.Start(ctx); err != nil {
		return err
	}
	return d.healthcheck.Start(ctx)
}

func (d *domains) stop(ctx context.Context) error {
	err := errors.Join(d.healthcheck.Stop(ctx), d.maintenance.Stop(ctx))
	d.agent.Close()
	d.identity.Close()
	return err
}

// httpDeps says what the server serves.
func (a *application) httpDeps(version string) httpapi.Deps {
	proxies, _ := a.cfg.Proxies() // checked with the other settings
	d := a.domains
	files, built := web.Files()
	if !built {
		files = nil
	}
	return httpapi.Deps{
		Log: a.log, Auth: d.identity, SessionCookie: identity.SessionCookie, BaseURL: a.cfg.BaseURL, Version: version, Proxies: proxies, UI: files,
		Probes: []httpapi.Probe{{Name: "database", Check: a.db.Ping}},
		Mount: func(mux *http.ServeMux) {
			d.operations.Mount(mux, a.log)
			mux.Handle("/api/auth/", d.identity.AuthHandler(identity.HTTPConfig{
				SecureCookie: a.cfg.Secure(), ClientAddress: httpapi.ClientAddress(proxies)}))
			mux.Handle("POST /api/ai/chat", d.agent.ChatHandler())
			mux.Handle("GET /api/ai/chat/{id}/stream", d.agent.FollowHandler())
			mux.Handle("GET /api/events", a.signals.Handler(httpapi.Principal(d.identity, identity.SessionCookie)))
			d.oauth.MountBrowser(mux)
			mux.Handle("GET /api/openapi.json", openAPIHandler(d.operations, version, a.cfg.BaseURL))
		},
		MountOpen: d.mountOpen,
		Config:    func(ctx context.Context) (any, error) { return d.bootstrap(ctx, a.cfg.BaseURL, version) },
	}
}

type bootstrap struct {
	BaseURL             string `json:"baseUrl"`
	Version             string `json:"version"`
	NeedsOnboarding     bool   `json:"needsOnboarding"`
	RegistrationAllowed bool   `json:"registrationAllowed"`
}

// bootstrap is what the web interface must know before anyone signs in.
func (d *domains) bootstrap(ctx context.Context, baseURL, version string) (bootstrap, error) {
	b := bootstrap{BaseURL: baseURL, Version: version}
	var err error
	if b.NeedsOnboarding, err = d.identity.NeedsOnboarding(ctx); err != nil {
		return b, err
	}
	b.RegistrationAllowed, err = d.identity.RegistrationAllowed(ctx)
	return b, err
}
