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

// SettingsChange says what to change; nil leaves a setting as it is.
type SettingsChange struct {
	Enabled, AllowRegistration, NoDocuments, AllowProposals *bool
}

// ChangeSettings changes settings, which count from the next request on, and
// gives all of them. Changes of different settings at the same time all stay.
func (s *Server) ChangeSettings(ctx context.Context, c SettingsChange) (Settings, error) {
	var set Settings
	err := s.db.Write.NewRaw(`INSERT INTO oauth_settings AS o (id, enabled, allow_registration, no_documents, allow_proposals, updated_at)
		VALUES (1, coalesce(?, FALSE), coalesce(?, FALSE), coalesce(?, FALSE), coalesce(?, FALSE), ?)
		ON CONFLICT (id) DO UPDATE SET enabled = coalesce(?, o.enabled), allow_registration = coalesce(?, o.allow_registration),
			no_documents = coalesce(?, o.no_documents), allow_proposals = coalesce(?, o.allow_proposals), updated_at = excluded.updated_at
		RETURNING enabled, allow_registration, no_documents, allow_proposals`,
		c.Enabled, c.AllowRegistration, c.NoDocuments, c.AllowProposals, s.clock(),
		c.Enabled, c.AllowRegistration, c.NoDocuments, c.AllowProposals).
		Scan(ctx, &set.Enabled, &set.AllowRegistration, &set.NoDocuments, &set.AllowProposals)
	if err != nil {
		return Settings{}, fmt.Errorf("store settings of the authorization server: %w", err)
	}
	return set, nil
}

// SetSettings changes all settings at once.
func (s *Server) SetSettings(ctx context.Context, set Settings) error {
	_, err := s.ChangeSettings(ctx, SettingsChange{&set.Enabled, &set.AllowRegistration, &set.NoDocuments, &set.AllowProposals})
	return err
}

// Scope gives what a client should ask for: writing only when writing is of
// any use over MCP.
func (set Settings) Scope() string {
	if set.AllowProposals {
		return ScopeRead + " " + ScopeWrite
	}
	return ScopeRead
}
