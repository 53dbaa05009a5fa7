package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/jobs"
)

const (
	// maxAttempts is how often a delivery is tried. River's pauses grow with the
	// fourth power of the attempt, so the last one is about a day after the first.
	maxAttempts = 14
	// passOn is how long a delivery waits that this process knows no subscriber
	// for: a newer replica published it and will take it.
	passOn = 15 * time.Second
	// passOnFor ends that: nobody knows the subscriber any more.
	passOnFor = 7 * 24 * time.Hour
)

// Topic is a kind of event, whose payload is a T. A payload is stored as JSON
// and may be read by another version of the product: add fields, never change
// the meaning of one. It holds ids and plain facts, never a secret.
type Topic[T any] struct{ name string }

// NewTopic declares a topic named "<plugin>.<event>".
func NewTopic[T any](name string) Topic[T] { return Topic[T]{name} }

// Name gives the topic's name.
func (t Topic[T]) Name() string { return t.name }

// Event is one delivery of an event to one subscriber.
type Event[T any] struct {
	// ID names the event. Every delivery of it, to whichever subscriber and
	// however often, has the same.
	ID string
	// At is when it was published.
	At      time.Time
	Payload T
}

// Bus delivers events. Make it with NewBus, subscribe, then start the jobs.
type Bus struct {
	jobs *jobs.Client
	log  *slog.Logger
	now  func() time.Time
	// topics and their subscribers in the order in which they subscribed; not
	// changed after the wiring.
	topics map[string][]subscriber
}

type subscriber struct {
	name   string
	handle func(ctx context.Context, d delivery) error
}

// delivery is the job of one event and one subscriber.
type delivery struct {
	EventID    string          `json:"eventId"`
	Topic      string          `json:"topic"`
	Subscriber string          `json:"subscriber"`
	At         time.Time       `json:"at"`
	Payload    json.RawMessage `json:"payload"`
}

// Kind implements river.JobArgs.
func (delivery) Kind() string { return "event" }

// NewBus makes a bus whose deliveries are jobs of c. It does no I/O.
func NewBus(c *jobs.Client, log *slog.Logger) *Bus {
	b := &Bus{jobs: c, log: log, now: time.Now, topics: map[string][]subscriber{}}
	jobs.AddWorker(c, &worker{bus: b})
	return b
}

// Publish announces payload within tx: it is delivered when tx commits and
// never otherwise. A topic without subscribers costs nothing.
func Publish[T any](ctx context.Context, b *Bus, tx bun.Tx, topic Topic[T], payload T) error {
	return PublishAll(ctx, b, tx, topic, []T{payload})
}

// PublishAll is Publish for several events of one topic, in one statement.
func PublishAll[T any](ctx context.Context, b *Bus, tx bun.Tx, topic Topic[T], payloads []T) error {
	subs := b.topics[topic.name]
	if len(subs) == 0 {
		return nil
	}
	at := db.Time(b.now())
	deliveries := make([]river.InsertManyParams, 0, len(payloads)*len(subs))
	for _, payload := range payloads {
		raw, err := json.Marshal(payload)
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic.name, err)
		}
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic.name, err)
		}
		for _, s := range subs {
			deliveries = append(deliveries, river.InsertManyParams{InsertOpts: &river.InsertOpts{MaxAttempts: maxAttempts},
				Args: delivery{EventID: id.String(), Topic: topic.name, Subscriber: s.name, At: at, Payload: raw}})
		}
	}
	if err := b.jobs.InsertMany(ctx, tx, deliveries); err != nil {
		return fmt.Errorf("publish %s: %w", topic.name, err)
	}
	return nil
}

// Subscribe has handle called for every event of topic, for at most a minute
// each. name is stored with deliveries that are under way, so it stays the same
// for as long as the subscriber exists; "<plugin>.<what it does>". Fields of the
// payload that this version does not know are passed over. Call it before the
// jobs start; to subscribe twice under one name is a fault of the program.
//
// The context names no principal: a subscriber acts for the product itself.
func Subscribe[T any](b *Bus, topic Topic[T], name string, handle func(ctx context.Context, e Event[T]) error) {
	if slices.ContainsFunc(b.topics[topic.name], func(s subscriber) bool { return s.name == name }) {
		panic(fmt.Sprintf("event: %s subscribes to %s twice", name, topic.name))
	}
	b.topics[topic.name] = append(b.topics[topic.name], subscriber{name, func(ctx context.Context, d delivery) error {
		e := Event[T]{ID: d.EventID, At: d.At}
		if err := json.Unmarshal(d.Payload, &e.Payload); err != nil {
			return fmt.Errorf("read payload: %w", err)
		}
		return handle(ctx, e)
	}})
}

type worker struct {
	river.WorkerDefaults[delivery]
	bus *Bus
}

func (w *worker) Work(ctx context.Context, j *river.Job[delivery]) error {
	d := j.Args
	subs := w.bus.topics[d.Topic]
	i := slices.IndexFunc(subs, func(s subscriber) bool { return s.name == d.Subscriber })
	if i < 0 {
		if w.bus.now().Sub(j.CreatedAt) < passOnFor {
			return river.JobSnooze(passOn)
		}
		w.bus.log.ErrorContext(ctx, "an event is dropped: no replica knows its subscriber", "topic", d.Topic, "subscriber", d.Subscriber, "event_id", d.EventID)
		return river.JobCancel(errors.New("unknown subscriber"))
	}
	if err := deliver(ctx, subs[i], d); err != nil {
		return fmt.Errorf("deliver %s %s to %s: %w", d.Topic, d.EventID, d.Subscriber, err)
	}
	return nil
}

// deliver calls the subscriber; a panic is an error like any other, so that the
// log names the event it came with.
func deliver(ctx context.Context, s subscriber, d delivery) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return s.handle(ctx, d)
}
