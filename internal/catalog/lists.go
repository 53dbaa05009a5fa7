package catalog

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// lists keeps the list of all systems as it was last read, in the form it is
// sent in. It is used only while the revision in the database is the one it was
// read under, so every replica shows every change at once; what is saved is
// reading and encoding hundreds of rows that did not change.
type lists struct {
	mu       sync.Mutex
	revision int64
	systems  *SystemList
}

// SystemList is a list of systems with its JSON.
type SystemList struct {
	Systems []System
	json    json.RawMessage
}

func newSystemList(systems []System) (*SystemList, error) {
	raw, err := json.Marshal(viewSystems(systems))
	if err != nil {
		return nil, err
	}
	return &SystemList{Systems: systems, json: raw}, nil
}

// MarshalJSON gives the systems as the API shows them.
func (l *SystemList) MarshalJSON() ([]byte, error) { return l.json, nil }

// Schema is a list of SystemView.
func (*SystemList) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[[]SystemView](), true, "SystemList")
}

// Systems lists systems by name; text, if not empty, is looked for in name and
// description, whatever its case. The list is shared: do not change it.
func (s *Service) Systems(ctx context.Context, text string) (*SystemList, error) {
	if text != "" {
		systems, err := s.store.systems(ctx, s.db.Read, text, nil)
		if err != nil {
			return nil, err
		}
		return newSystemList(systems)
	}
	// The revision is read first: rows that are newer than it only cause one
	// more reading, while older rows under a newer revision would stay.
	revision, err := s.store.revision(ctx, s.db.Read)
	if err != nil {
		return nil, err
	}
	s.lists.mu.Lock()
	kept := s.lists.systems
	fresh := kept != nil && s.lists.revision == revision
	s.lists.mu.Unlock()
	if fresh {
		return kept, nil
	}
	systems, err := s.store.systems(ctx, s.db.Read, "", nil)
	if err != nil {
		return nil, err
	}
	list, err := newSystemList(systems)
	if err != nil {
		return nil, err
	}
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	if s.lists.systems == nil || revision > s.lists.revision {
		s.lists.revision, s.lists.systems = revision, list
	}
	return list, nil
}
