package operation

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Patch is a field of an update that can be left alone (absent), cleared
// (null) or set (a value).
type Patch[T any] struct {
	// Set is true when the key was present.
	Set bool
	// Value is nil when the key was null.
	Value *T
}

// UnmarshalJSON is reached only for a key that is present.
func (p *Patch[T]) UnmarshalJSON(b []byte) error {
	p.Set = true
	if bytes.Equal(bytes.TrimSpace(b), []byte("null")) {
		p.Value = nil
		return nil
	}
	p.Value = new(T)
	return json.Unmarshal(b, p.Value)
}

// MarshalJSON writes the value or null; pair the field with `omitzero` so that
// an absent one stays absent.
func (p Patch[T]) MarshalJSON() ([]byte, error) { return json.Marshal(p.Value) }

// IsZero says that the key was absent.
func (p Patch[T]) IsZero() bool { return !p.Set }

// Schema is T's schema, or null.
func (Patch[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return &s
}

// SetTo gives a patch that sets the value.
func SetTo[T any](v T) Patch[T] { return Patch[T]{Set: true, Value: &v} }
