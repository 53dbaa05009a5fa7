package oauth

import (
	"context"
	"fmt"
)

// Settings is what an administrator decides. The zero value is the default:
// everything off.
type Settings struct {
	// Enabled opens the MCP endpoint and this server.
	Enabled bool
	// AllowRegistration lets clients register themselves (RFC 7591).
	AllowRegistration bool
	// NoDocuments stops the reading of Client ID Metadata Documents, for an
	// installation that cannot reach them, so that clients use another way.
	NoDocuments bool
	// AllowProposals lets MCP clients propose changes, which wait for a person.
	AllowProposals bool
}

// Settings gives the settings of this moment.
func (s *Server) Settings(ctx context.Context) (Settings, error) {
	return s.settings.get(ctx)
}

func (s *Server) readSettings(ctx context.Context) (Settings, error) {
	var rows []struct{ Enabled, AllowRegistration, NoDocuments, AllowProposals bool }
	err := s.db.ScanPrepared(ctx, s.db.Read, &rows, "SELECT enabled, allow_registration, no_documents, allow_proposals FROM oauth_settings WHERE id = 1")
	if err != nil {
		return Settings{}, fmt.Errorf("read settings of the authorization server: %w", err)
	}
	if len(rows) == 0 {
		return Settings{}, nil
	}
	return Settings(rows[0]), nil
}

// SetSettings changes the settings; they count from the next request on.
func (s *Server) SetSettings(ctx context.Context, set Settings) error {
	_, err := s.db.Write.NewRaw(`INSERT INTO oauth_settings (id, enabled, allow_registration, no_documents, allow_proposals, updated_at) VALUES (1, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled, allow_registration = excluded.allow_registration, no_documents = excluded.no_documents,
			allow_proposals = excluded.allow_proposals, updated_at = excluded.updated_at`,
		set.Enabled, set.AllowRegistration, set.NoDocuments, set.AllowProposals, s.clock()).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store settings of the authorization server: %w", err)
	}
	return nil
}
