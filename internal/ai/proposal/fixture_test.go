package proposal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

var (
	ruleRead   = authz.Rule{ID: "test.thing.read"}
	ruleManage = authz.Rule{ID: "test.thing.manage"}
)

// things is a domain with one value and its version.
type things struct {
	mu      sync.Mutex
	value   string
	version int64

	locked, gone, closed bool

	effects  atomic.Int64
	dryRuns  atomic.Int64
	reads    atomic.Int64
	onRead   func() // called while a read runs
	failRun  error
	panicRun bool
	lastPass string
	hold     chan struct{} // a run waits here when set
	held     chan struct{}
}

type getIn struct {
	ID string    `json:"id,omitempty"`
	At time.Time `json:"at,omitzero"`
}
type getOut struct {
	Value   string `json:"value"`
	Version int64  `json:"version"`
}
type setIn struct {
	Value   string `json:"value" minLength:"1" maxLength:"50"`
	Version *int64 `json:"version,omitempty"`
}
type secretIn struct {
	URL      string         `json:"url"`
	Password string         `json:"password"`
	Config   map[string]any `json:"config,omitempty"`
}
type failIn struct {
	Panic bool `json:"panic,omitempty"`
}

func (th *things) tools() []tool.Tool {
	conflict := func(in setIn) error {
		th.mu.Lock()
		defer th.mu.Unlock()
		if in.Version != nil && *in.Version != th.version {
			return problem.Conflict("The thing has changed since: it is at version %d", th.version).Because(problem.ErrMoved)
		}
		return nil
	}
	needs := func() error {
		th.mu.Lock()
		defer th.mu.Unlock()
		switch {
		case th.locked:
			return problem.Conflict("The thing is locked; unlock it first")
		case th.gone:
			return problem.NotFound("This thing does not exist")
		case th.closed:
			return problem.Conflict("The thing is closed")
		}
		return nil
	}
	preview := func(verb string) func(context.Context, setIn) (tool.Preview[setIn], error) {
		return func(_ context.Context, in setIn) (tool.Preview[setIn], error) {
			th.dryRuns.Add(1)
			if strings.HasPrefix(in.Value, "bad") {
				return tool.Preview[setIn]{}, problem.InputIssues([]problem.Issue{{Path: "value", Message: "must not begin with bad"}, {Path: "version", Message: "is odd"}})
			}
			if in.Value == "broken" {
				return tool.Preview[setIn]{}, errors.New("canary-internal")
			}
			if err := conflict(in); err != nil {
				return tool.Preview[setIn]{}, err
			}
			if err := needs(); err != nil {
				return tool.Preview[setIn]{}, err
			}
			th.mu.Lock()
			defer th.mu.Unlock()
			before := getOut{th.value, th.version}
			if in.Version == nil {
				v := th.version
				in.Version = &v
			}
			return tool.Preview[setIn]{Summary: verb + " " + in.Value, Payload: in, Private: in.Value == "secret plan", Before: before, After: getOut{in.Value, th.version + 1}}, nil
		}
	}
	run := func(ctx context.Context, in setIn) (getOut, error) {
		if th.hold != nil {
			close(th.held)
			select {
			case <-th.hold:
			case <-ctx.Done():
				return getOut{}, ctx.Err()
			}
		}
		if th.panicRun {
			panic("boom")
		}
		if th.failRun != nil {
			return getOut{}, th.failRun
		}
		if err := conflict(in); err != nil {
			return getOut{}, err
		}
		th.effects.Add(1)
		th.mu.Lock()
		defer th.mu.Unlock()
		th.value = in.Value
		th.version++
		return getOut{th.value, th.version}, nil
	}
	spec := func(name string, e tool.Effect, r authz.Rule) tool.Spec {
		return tool.Spec{Name: "test." + name, Description: name, Effect: e, Access: []authz.Rule{r}}
	}
	get := func(_ context.Context, in getIn) (getOut, error) {
		th.reads.Add(1)
		if th.onRead != nil {
			th.onRead()
		}
		if in.ID == "missing" {
			return getOut{}, problem.NotFound("There is no such thing")
		}
		return getOut{th.value, th.version}, nil
	}
	return []tool.Tool{
		tool.Define(spec("get", tool.Read, ruleRead), get),
		tool.Define(spec("probe", tool.Read, ruleRead), get).Outside(),
		tool.Define(spec("fail", tool.Read, ruleRead), func(_ context.Context, in failIn) (getOut, error) {
			if in.Panic {
				panic("canary-panic")
			}
			return getOut{}, fmt.Errorf("canary-internal")
		}),
		tool.DefineChange(spec("set", tool.Mutate, ruleManage), preview("Set"), run),
		tool.DefineChange(spec("wipe", tool.Destructive, ruleManage), preview("Wipe"), run),
		tool.DefineChange(spec("login", tool.Mutate, ruleManage),
			func(_ context.Context, in secretIn) (tool.Preview[secretIn], error) {
				return tool.Preview[secretIn]{Summary: "Log in to " + in.URL, Payload: in,
					Before: map[string]any{"password": "canary-old", "url": ""}, After: in}, nil
			},
			func(_ context.Context, in secretIn) (getOut, error) {
				th.lastPass = in.Password
				return getOut{Value: in.URL}, nil
			}),
	}
}

type recorder struct {
	mu   sync.Mutex
	seen []ToolCalled
}

func (r *recorder) ToolCalled(_ context.Context, e ToolCalled) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, e)
}

func (r *recorder) statuses() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.seen {
		out = append(out, string(e.Status))
	}
	return strings.Join(out, " ")
}

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type fixture struct {
	g      *Gate
	d      *db.DB
	things *things
	events *recorder
	clock  *clock
	box    *secret.Box
	tools  *tool.Registry
	ctx    context.Context // as ada, who may do all
}

func setup(t testing.TB, d *db.DB) *fixture {
	t.Helper()
	f := &fixture{d: d, things: &things{value: "old", version: 1}, events: &recorder{},
		clock: &clock{at: time.Date(2026, 6, 7, 8, 30, 0, 0, time.UTC)}}
	var err error
	if f.tools, err = tool.NewRegistry(f.things.tools()); err != nil {
		t.Fatal(err)
	}
	if f.box, err = secret.NewBox(strings.Repeat("ab", 32)); err != nil {
		t.Fatal(err)
	}
	f.g = f.gate(t, d)
	f.ctx = as("ada", ruleRead.ID, ruleManage.ID)
	return f
}

func (f *fixture) gate(t testing.TB, d *db.DB) *Gate {
	t.Helper()
	g, err := New(Deps{DB: d, Tools: f.tools, Box: f.box, Events: f.events, Log: slog.New(slog.DiscardHandler), Now: f.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func as(id string, rules ...string) context.Context {
	return authz.With(context.Background(), authz.Principal{Kind: authz.User, ID: id, Rules: rules})
}

func (f *fixture) propose(t *testing.T, args string) *Proposal {
	t.Helper()
	p, err := f.g.Propose(f.ctx, "test.set", []byte(args), Origin{Transport: Chat})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fixture) column(t *testing.T, column, id string) string {
	t.Helper()
	var s *string
	if err := f.d.Read.NewRaw("SELECT CAST("+column+" AS TEXT) FROM ai_tool_calls WHERE id = ?", id).Scan(context.Background(), &s); err != nil {
		t.Fatal(err)
	}
	return text(s)
}
