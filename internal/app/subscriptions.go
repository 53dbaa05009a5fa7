package app

import (
	"context"

	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/event"
)

// subscribe says who reacts to what. The name of a subscriber is stored with
// deliveries that are under way: a new one is free to choose, an old one stays.
func subscribe(bus *event.Bus, d *domains) {
	// The runs of a deleted system have no foreign key, because deleting it must
	// not wait for millions of rows.
	event.Subscribe(bus, catalog.SystemDeleted, "healthcheck.forget", func(ctx context.Context, e event.Event[catalog.SystemDeletedPayload]) error {
		return d.healthcheck.ForgetSystem(ctx, e.Payload.SystemID)
	})
}
