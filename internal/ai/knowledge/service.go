package knowledge

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/netguard"
	"github.com/checkstack/checkstack/internal/problem"
)

// systems is what memories ask about the systems they are kept for.
type systems interface {
	// SystemNames gives the names of those of the ids that exist.
	SystemNames(ctx context.Context, ids []string) (map[string]string, error)
}

// people names authors.
type people interface {
	// Names gives the names of those of the people and applications that exist.
	Names(ctx context.Context, ids []string) (map[string]string, error)
}

// Deps is what the service needs.
type Deps struct {
	DB *db.DB
	// Docs holds the pages of the documentation, Markdown.
	Docs    fs.FS
	Systems systems
	People  people
	// Chat is the rule of the tools that everybody who may chat may use.
	Chat authz.Rule
	// SystemRead and SystemManage decide about memories of systems.
	SystemRead, SystemManage authz.Rule
	// Skills are built-in skills of domains, besides those of this package.
	Skills []Skill
	// Capabilities are the contexts that ai.listCapabilities knows.
	Capabilities []CapabilityContext
	// Web makes the requests of ai.probeUrl; nil means the guarded transport.
	Web http.RoundTripper
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service holds the use cases.
type Service struct {
	db           *db.DB
	store        store
	docs         *Index
	systems      systems
	people       people
	chat         authz.Rule
	systemRead   authz.Rule
	systemManage authz.Rule
	builtins     []Skill
	capabilities []CapabilityContext
	web          http.RoundTripper
	log          *slog.Logger
	now          func() time.Time
	ops          *operations
}

// New makes the service. A page without a title, a malformed or repeated
// built-in skill and a repeated context are start-up errors.
func New(d Deps) (*Service, error) {
	s := &Service{db: d.DB, systems: d.Systems, people: d.People, chat: d.Chat, systemRead: d.SystemRead, systemManage: d.SystemManage,
		web: d.Web, log: d.Log, now: d.Now}
	if s.now == nil {
		s.now = time.Now
	}
	if s.web == nil {
		s.web = netguard.NewTransport(netguard.Probe, netguard.Options{FreshConnections: true})
	}
	var err error
	if s.docs, err = NewIndex(d.Docs); err != nil {
		return nil, err
	}
	if s.builtins, err = checkBuiltins(slices.Concat(Builtins(), d.Skills)); err != nil {
		return nil, err
	}
	for _, c := range d.Capabilities {
		if slices.ContainsFunc(s.capabilities, func(o CapabilityContext) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("capability context %q is declared twice", c.Name)
		}
		s.capabilities = append(s.capabilities, c)
	}
	s.ops = s.operations()
	return s, nil
}

func (s *Service) clock() time.Time { return db.Time(s.now()) }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// Tools gives the tools of this package.
func (s *Service) Tools() []tool.Tool {
	tools := append(s.docTools(), s.probeTool(), s.askTool())
	if len(s.capabilities) > 0 {
		tools = append(tools, s.capabilityTools()...)
	}
	return append(tools, s.memoryTools()...)
}

// noCredential refuses texts that look like they hold a key or a bearer token:
// what is kept here is shown to models again and again.
func noCredential(path string, texts ...string) []problem.Issue {
	for _, t := range texts {
		if scrub.Secret(t) {
			return []problem.Issue{{Path: path, Message: "looks like it holds a key or token; leave credentials out"}}
		}
	}
	return nil
}

func wildcard(p authz.Principal) bool { return slices.Contains(p.Rules, authz.Wildcard) }
