package agent

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/builtin"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/secret"
	"github.com/checkstack/checkstack/internal/zone"
)

// Deps is what the agent needs.
type Deps struct {
	DB      *db.DB
	Tools   *tool.Registry
	Gate    *proposal.Gate
	Secrets *secret.Store
	// HTTP reaches model providers; it guards what may be dialled.
	HTTP *http.Client
	Log  *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Zone is the host's time zone, for browsers that name none; nil finds it.
	Zone *time.Location
	// Builtin is the model behind the connection "builtin"; nil means the
	// built-in assistant.
	Builtin llm.Model
	// KeepAlive is the silence after which a stream gets a comment line; zero
	// means 15 s.
	KeepAlive time.Duration
	// IdleTimeout is the silence of a provider that ends a round; zero means
	// the client's own.
	IdleTimeout time.Duration
}

// Service is the agent.
type Service struct {
	db        *db.DB
	tools     *tool.Registry
	gate      *proposal.Gate
	secrets   *secret.Store
	http      *http.Client
	log       *slog.Logger
	now       func() time.Time
	zone      *time.Location
	builtin   llm.Model
	keepAlive time.Duration
	idle      time.Duration

	// clients holds one provider client per connection as it is now. It only
	// saves what a client learned about its endpoint.
	mu      sync.Mutex
	clients map[string]cachedClient
	// defs holds the tools as models are offered them, by name.
	defs sync.Map
}

type cachedClient struct {
	updatedAt time.Time
	model     llm.Model
}

// New makes the agent.
func New(d Deps) *Service {
	s := &Service{db: d.DB, tools: d.Tools, gate: d.Gate, secrets: d.Secrets, http: d.HTTP, log: d.Log, now: d.Now,
		zone: d.Zone, builtin: d.Builtin, keepAlive: d.KeepAlive, idle: d.IdleTimeout, clients: map[string]cachedClient{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.zone == nil {
		s.zone = zone.Host()
	}
	if s.builtin == nil {
		s.builtin = builtin.New()
	}
	if s.keepAlive == 0 {
		s.keepAlive = 15 * time.Second
	}
	return s
}
