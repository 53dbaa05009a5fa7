package incident

import (
	"context"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
)

// The access rules of incidents, spec/monitoring.md 8.2.
var (
	Read   = authz.Rule{ID: "incident.incident.read", Description: "See incidents and the updates that are meant for everyone", Default: true, Public: true}
	Manage = authz.Rule{ID: "incident.incident.manage", Description: "Create, change, resolve and delete incidents, see internal updates and who wrote them"}
)

// Rules lists them for the role editor.
func Rules() []authz.Rule { return []authz.Rule{Read, Manage} }

// reader is what the caller may see of an incident, besides its public part.
type reader struct {
	manages   bool // internal updates, and who wrote an update
	signedIn  bool // updates for people who are signed in
	sysReader bool // the names of systems
}

func readerOf(ctx context.Context) reader {
	p := authz.From(ctx)
	return reader{manages: p.Has(Manage.ID), signedIn: !p.IsGuest(), sysReader: p.Has(catalog.SystemRead.ID)}
}

// audiences gives the audiences whose updates the reader sees.
func (r reader) audiences() []Audience {
	list := []Audience{Everyone}
	if r.signedIn || r.manages {
		list = append(list, SignedIn)
	}
	if r.manages {
		list = append(list, Internal)
	}
	return list
}
