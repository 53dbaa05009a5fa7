package event

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
)

// Signal says that something changed.
type Signal struct {
	// ID is "<plugin>.<event>", such as "catalog.changed".
	ID string `json:"signalId"`
	// PluginID names the plugin whose cached data is out of date.
	PluginID string `json:"pluginId"`
	// Payload holds ids and enum values only.
	Payload any `json:"payload"`
	// Rule is the access rule a viewer must hold to be told; empty means any
	// signed-in viewer.
	Rule string `json:"-"`
	// UserID limits the signal to one person; empty means everyone who may.
	UserID string `json:"-"`
}

// wire is a signal on its way to another replica.
type wire struct {
	Origin  string          `json:"o"`
	ID      string          `json:"s"`
	Plugin  string          `json:"p"`
	Payload json.RawMessage `json:"d"`
	Rule    string          `json:"r,omitempty"`
	User    string          `json:"u,omitempty"`
	At      time.Time       `json:"t"`
}

const (
	channel = "checkstack_signals"
	// flushEvery is how long signals are gathered before they go out together.
	flushEvery = 100 * time.Millisecond
	// maxNotify keeps below PostgreSQL's limit of 8000 bytes.
	maxNotify = 7500
	// maxPending bounds what is gathered; beyond it signals are dropped, which
	// browsers notice at their next refresh.
	maxPending = 2000
	// maxQueue bounds what one slow browser may fall behind.
	maxQueue = 256
)

// Signals fans signals out. Make it with New, then Start.
type Signals struct {
	db     *db.DB
	log    *slog.Logger
	origin string
	now    func() time.Time

	mu      sync.Mutex
	subs    map[*Subscription]struct{}
	pending []wire
	seen    map[string]struct{} // what pending already holds
	stopped bool

	cancel context.CancelFunc
	done   sync.WaitGroup
}

// New makes the hub for d's installation. It does no I/O.
func New(d *db.DB, log *slog.Logger) *Signals {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return &Signals{db: d, log: log, origin: hex.EncodeToString(b[:]), now: time.Now,
		subs: map[*Subscription]struct{}{}, seen: map[string]struct{}{}}
}

// Start begins to deliver.
func (s *Signals) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	s.done.Go(func() { s.flushLoop(ctx) })
	if s.db.Postgres() {
		s.done.Go(func() { s.listenLoop(ctx) })
	}
}

// Stop ends delivery and every subscription.
func (s *Signals) Stop() {
	if s.cancel != nil {
		s.cancel()
		s.done.Wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for sub := range s.subs {
		sub.close()
		delete(s.subs, sub)
	}
}

// Publish announces a signal. Equal signals within a tenth of a second are one.
func (s *Signals) Publish(ctx context.Context, sig Signal) {
	payload, err := json.Marshal(sig.Payload)
	if err != nil {
		s.log.ErrorContext(ctx, "signal payload cannot be encoded", "signal", sig.ID, "error", err)
		return
	}
	w := wire{Origin: s.origin, ID: sig.ID, Plugin: sig.PluginID, Payload: payload, Rule: sig.Rule, User: sig.UserID, At: db.Time(s.now())}
	key := w.ID + "\x00" + w.Rule + "\x00" + w.User + "\x00" + string(payload)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dup := s.seen[key]; dup || len(s.pending) >= maxPending {
		return
	}
	if len(s.subs) == 0 && !s.db.Postgres() {
		return
	}
	s.seen[key] = struct{}{}
	s.pending = append(s.pending, w)
}

func (s *Signals) flushLoop(ctx context.Context) {
	t := time.NewTicker(flushEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		s.mu.Lock()
		batch := s.pending
		s.pending = nil
		clear(s.seen)
		s.mu.Unlock()
		if len(batch) == 0 {
			continue
		}
		s.deliver(batch)
		if s.db.Postgres() {
			s.notify(ctx, batch)
		}
	}
}

func (s *Signals) deliver(batch []wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.subs {
		for _, w := range batch {
			sub.offer(w)
		}
	}
}

// notify sends the batch to the other replicas in as few messages as fit.
func (s *Signals) notify(ctx context.Context, batch []wire) {
	for len(batch) > 0 {
		n, size := 0, 2
		for n < len(batch) {
			b, _ := json.Marshal(batch[n])
			if size += len(b) + 1; size > maxNotify && n > 0 {
				break
			}
			n++
		}
		text, _ := json.Marshal(batch[:n])
		batch = batch[n:]
		if len(text) > maxNotify {
			continue // a single signal too large to send; its sender is at fault
		}
		if _, err := s.db.Write.NewRaw("SELECT pg_notify(?, ?)", channel, string(text)).Exec(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "signals did not reach the other replicas", "error", err)
			return
		}
	}
}

func (s *Signals) listenLoop(ctx context.Context) {
	wait := time.Second
	for ctx.Err() == nil {
		err := s.listen(ctx, func() { wait = time.Second })
		if ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "signals of other replicas are not heard; trying again", "error", err, "wait_ms", wait.Milliseconds())
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(wait*2, 30*time.Second)
	}
}

func (s *Signals) listen(ctx context.Context, connected func()) error {
	conn, err := pgx.Connect(ctx, s.db.PostgresURL())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	connected()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		var batch []wire
		if err := json.Unmarshal([]byte(n.Payload), &batch); err != nil {
			continue // not ours
		}
		others := batch[:0]
		for _, w := range batch {
			if w.Origin != s.origin {
				others = append(others, w)
			}
		}
		s.deliver(others)
	}
}

// Subscription is one viewer's stream of signals.
type Subscription struct {
	// C gives the signals as JSON texts; it is closed when the hub stops.
	C chan []byte

	guest bool // a stream ends when its viewer becomes somebody else

	mu        sync.Mutex
	principal authz.Principal
	closed    bool
}

// Subscribe opens a stream for p, which has ended already when the hub has
// stopped. End it with Unsubscribe.
func (s *Signals) Subscribe(p authz.Principal) *Subscription {
	sub := &Subscription{C: make(chan []byte, maxQueue), principal: p, guest: p.IsGuest()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		sub.close()
		return sub
	}
	s.subs[sub] = struct{}{}
	return sub
}

// Unsubscribe ends a stream.
func (s *Signals) Unsubscribe(sub *Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subs, sub)
}

// open counts the streams, and those of guests.
func (s *Signals) open() (all, guests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.subs {
		if sub.guest {
			guests++
		}
	}
	return len(s.subs), guests
}

// SetPrincipal replaces the viewer, whose rights may have changed meanwhile.
func (sub *Subscription) SetPrincipal(p authz.Principal) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.principal = p
}

func (sub *Subscription) offer(w wire) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	p := sub.principal
	if sub.closed || (w.User != "" && (p.Kind != authz.User || p.ID != w.User)) || (w.Rule != "" && !p.Has(w.Rule)) || (w.Rule == "" && p.IsGuest()) {
		return
	}
	text, err := json.Marshal(struct {
		Type      string          `json:"type"`
		ID        string          `json:"signalId"`
		Plugin    string          `json:"pluginId"`
		Payload   json.RawMessage `json:"payload"`
		Timestamp time.Time       `json:"timestamp"`
	}{"signal", w.ID, w.Plugin, w.Payload, w.At})
	if err != nil {
		return
	}
	select {
	case sub.C <- text:
	default: // the browser does not keep up; it refreshes by itself
	}
}

func (sub *Subscription) close() {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if !sub.closed {
		sub.closed = true
		close(sub.C)
	}
}
