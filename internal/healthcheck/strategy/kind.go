package strategy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// Strategy is a kind of target. Implementations are stateless or safe for
// concurrent use, and never keep a config beyond a connection.
type Strategy interface {
	// Kind describes it; the answer never changes.
	Kind() Kind
	// Collectors are what can be measured over its connections.
	Collectors() []Collector
	// Connect opens a connection with a config of the type that the kind
	// declares, templates rendered; the config is shared between runs and must
	// not be changed. It gives up when ctx ends. A Failure tells why it failed.
	Connect(ctx context.Context, config any) (Connection, error)
}

// Connection is what collectors measure over. It is closed exactly once, after
// every collector has returned.
type Connection interface {
	io.Closer
}

// Collector measures one thing over the connection of its strategy. Several
// collectors use one connection at the same time.
type Collector interface {
	// Kind describes it; the answer never changes.
	Kind() CollectorKind
	// Collect measures once. An error means that the probe could not complete;
	// whatever the target answered is data, spec/monitoring.md 4.5. A Failure
	// tells why. The config is shared between runs and must not be changed.
	Collect(ctx context.Context, conn Connection, config any) (Measurement, error)
}

// Failure is an error whose text is stored and shown to people: plain words, no
// secret, no full URL. Of any other error only netguard.Cause is shown.
type Failure string

// Error gives the text.
func (f Failure) Error() string { return string(f) }

// Validator is implemented by a Strategy or Collector whose config has rules
// beyond its schema. The config has its defaults but unrendered templates:
// skip concrete rules for a text with HasTemplate. Paths are relative to the
// config, such as "url".
type Validator interface {
	Validate(config any) []problem.Issue
}

// Masker is implemented by a Strategy or Collector that sends secrets in a
// derived form, such as the base64 of a user name and password, which must be
// masked in results like the secret itself.
type Masker interface {
	SecretForms(config any) []string
}

// Kind describes a Strategy.
type Kind struct {
	// ID is qualified: "<pluginId>.<localId>".
	ID          string
	DisplayName string
	Description string
	// Category groups kinds in the picker, such as "networking".
	Category string
	// Config must have a top-level number "timeout", see Timeout.
	Config Config
	Result *Schema
	// NeedsCollector is true when connecting alone measures nothing.
	NeedsCollector bool
}

// CollectorKind describes a Collector.
type CollectorKind struct {
	// ID is qualified: "<pluginId>.<localId>".
	ID          string
	DisplayName string
	Description string
	Config      Config
	Result      *Schema
	// AllowMultiple lets a check hold several instances of it.
	AllowMultiple bool
}

// Config is the type of a config: its schema, its version, and how older
// versions become the present one.
type Config struct {
	Schema *Schema
	// Version starts at 1 and grows with every incompatible change.
	Version int
	// Upgrades has one entry per version step, in order.
	Upgrades []Upgrade
	// Decode turns a valid config into the kind's own type.
	Decode func(json.RawMessage) (any, error)
}

// Upgrade turns a config of version From into From+1. It runs on every read,
// so it must leave a config that is already newer as it is.
type Upgrade struct {
	From        int
	Description string
	Apply       func(config map[string]any)
}

// DecodeTo gives the Decode function for configs that are handed over as *T.
func DecodeTo[T any]() func(json.RawMessage) (any, error) {
	return func(raw json.RawMessage) (any, error) {
		v := new(T)
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			return nil, fmt.Errorf("decode config: %w", err)
		}
		return v, nil
	}
}

// Measurement is what a collector found.
type Measurement struct {
	// Fields are named as in the result schema: nil, bool, string, numbers,
	// []string, or what encoding/json makes of lists and objects.
	Fields map[string]any
	// Unusable names fields whose value is not the whole truth, with the reason;
	// an assertion on such a field fails with it.
	Unusable map[string]string
	// Timings are the phases that were really measured, of dnsMs, connectMs,
	// tlsMs, waitMs, transferMs and processingMs, in milliseconds.
	Timings map[string]int64
}

// The timeouts of spec/monitoring.md 4.4.
const (
	DefaultTimeout  = 30 * time.Second
	fallbackTimeout = 60 * time.Second
	minTimeoutMs    = 100
	maxTimeoutMs    = 300_000
)

// Timeout is the property that every strategy inherits.
func Timeout(description string) Property {
	return Property{Name: "timeout", Schema: Schema{
		Type: "integer", Title: "Timeout (ms)", Description: description,
		Minimum: Limit(minTimeoutMs), Maximum: Limit(maxTimeoutMs), Default: DefaultTimeout.Milliseconds(),
	}}
}
