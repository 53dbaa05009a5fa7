package operation

import (
	"context"
	"encoding/json"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// Authorize is the access part of the chain, spec/platform.md 6.5. It is the
// only place that decides whether a principal may call an operation.
func (d Declaration) Authorize(p authz.Principal) error {
	if d.Caller == Anonymous {
		return nil
	}
	if p.IsGuest() {
		if d.Caller != Public {
			return problem.Unauthenticated("Authentication required")
		}
		if len(p.Missing(d.Access...)) > 0 {
			return problem.Forbidden("Anonymous access not permitted for this resource")
		}
		return nil
	}
	if d.Caller == UserOnly && p.Kind != authz.User {
		return problem.Forbidden("This endpoint is for users only")
	}
	if missing := p.Missing(d.Access...); len(missing) > 0 {
		return problem.Forbidden("Missing access: %s", missing[0])
	}
	return nil
}

// Call runs the chain in process, as the principal in ctx: access, input
// checked like one that came over HTTP, handler.
func (o *Op[In, Out]) Call(ctx context.Context, in In) (*Out, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return o.call(ctx, func(target *In) error { return o.input.Decode(raw, target) })
}

// CallJSON implements Operation.
func (o *Op[In, Out]) CallJSON(ctx context.Context, input json.RawMessage) (any, error) {
	return untyped(o.call(ctx, func(target *In) error { return o.input.Decode(input, target) }))
}

func (o *Op[In, Out]) callValue(ctx context.Context, value any) (any, error) {
	return untyped(o.call(ctx, func(target *In) error { return o.input.decode(value, nil, target) }))
}

func (o *Op[In, Out]) call(ctx context.Context, decode func(*In) error) (*Out, error) {
	if err := o.decl.Authorize(authz.From(ctx)); err != nil {
		return nil, err
	}
	in := new(In)
	if err := decode(in); err != nil {
		return nil, err
	}
	return o.handler(ctx, in)
}

func untyped[Out any](out *Out, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return out, nil
}
