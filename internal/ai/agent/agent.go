package agent

import (
	"context"
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
	// Memories gives the text of the memories that accompany every turn of the
	// principal in ctx; Skill that of a skill, empty when it is unknown. Nil
	// means that there are none. An error leaves them out of the turn.
	Memories func(ctx context.Context) (string, error)
	Skill    func(ctx context.Context, id string) (string, error)
	// Changed hears that a conversation of a person looks different in lists;
	// nil when nobody wants to know.
	Changed func(ctx context.Context, userID, conversationID string)
	// Names gives the names of people by id, for the spend report; nil means ids.
	Names func(ctx context.Context, userIDs []string) (map[string]string, error)
	// KeepAlive is the silence after which a stream gets a comment line; zero
	// means 15 s.
	KeepAlive time.Duration
	// Heartbeat is how often a running turn renews its claim and saves what it
	// has shown; zero means 1 s.
	Heartbeat time.Duration
	// IdleTimeout is the silence of a provider that ends a round; zero means
	// the client's own.
	IdleTimeout time.Duration
}

// Service is the agent. End it with Close.
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
	memories  func(context.Context) (string, error)
	skill     func(context.Context, string) (string, error)
	changed   func(ctx context.Context, userID, conversationID string)
	names     func(context.Context, []string) (map[string]string, error)
	keepAlive time.Duration
	heartbeat time.Duration
	takeOver  time.Duration
	// listenGrace and listenEvery are the constants; tests shorten them.
	listenGrace, listenEvery time.Duration
	idle                     time.Duration

	// clients holds one provider client per connection as it is now. It only
	// saves what a client learned about its endpoint.
	mu      sync.Mutex
	clients map[string]cachedClient
	// defs holds the tools as models are offered them, by name.
	defs sync.Map
	// running holds what stops the turns of this process, by message. It only
	// spares them the wait for their next heartbeat.
	running sync.Map
	// background is the work that outlives a turn, such as its title.
	background sync.WaitGroup
	closing    context.Context
	close      context.CancelFunc
}

type cachedClient struct {
	updatedAt time.Time
	model     llm.Model
}

// New makes the agent.
func New(d Deps) *Service {
	s := &Service{db: d.DB, tools: d.Tools, gate: d.Gate, secrets: d.Secrets, http: d.HTTP, log: d.Log, now: d.Now,
		zone: d.Zone, builtin: d.Builtin, memories: d.Memories, skill: d.Skill, changed: d.Changed, names: d.Names,
		keepAlive: d.KeepAlive, heartbeat: d.Heartbeat, takeOver: takeOver, listenGrace: listenGrace, listenEvery: listenEvery, idle: d.IdleTimeout,
		clients: map[string]cachedClient{}}
	s.closing, s.close = context.WithCancel(context.Background())
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
	if s.heartbeat == 0 {
		s.heartbeat = time.Second
	}
	return s
}

// Close ends the work that no request waits for and waits until it has ended.
func (s *Service) Close() {
	s.close()
	s.background.Wait()
}
