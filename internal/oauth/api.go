package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

type settingsView struct {
	Enabled           bool   `json:"enabled" doc:"Whether outside agents can connect over MCP at all"`
	AllowRegistration bool   `json:"allowDynamicClientRegistration" doc:"Whether clients may register themselves (RFC 7591)"`
	AllowDocuments    bool   `json:"allowClientMetadataDocuments" doc:"Whether clients may show who they are by the address of a metadata document, which this server reads"`
	AllowProposals    bool   `json:"allowProposals" doc:"Whether MCP clients may propose changes, which wait for a person in the approvals inbox"`
	Endpoint          string `json:"endpoint" doc:"The address to give to an MCP client"`
}

type settingsInput struct {
	Enabled           *bool `json:"enabled,omitempty"`
	AllowRegistration *bool `json:"allowDynamicClientRegistration,omitempty"`
	AllowDocuments    *bool `json:"allowClientMetadataDocuments,omitempty"`
	AllowProposals    *bool `json:"allowProposals,omitempty"`
}

type clientView struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Source       string     `json:"source" enum:"manual,dynamic,document"`
	RedirectURIs []string   `json:"redirectUris"`
	AuthMethod   string     `json:"authMethod" enum:"none,client_secret_basic,client_secret_post"`
	People       int        `json:"people" doc:"How many people let it in"`
	CreatedAt    time.Time  `json:"createdAt"`
	LastUsedAt   *time.Time `json:"lastUsedAt,omitempty"`
}

type clientsOutput struct {
	Clients []clientView `json:"clients" doc:"Those used last first"`
}

type addClientInput struct {
	Name         string   `json:"name" minLength:"1" maxLength:"200"`
	RedirectURIs []string `json:"redirectUris" minItems:"1" maxItems:"10" doc:"https addresses, or http on this machine"`
	AuthMethod   string   `json:"authMethod,omitempty" enum:"none,client_secret_basic,client_secret_post" default:"none" doc:"none for a program that cannot keep a secret"`
}

type addClientOutput struct {
	Client       clientView `json:"client"`
	ClientSecret string     `json:"clientSecret,omitempty" doc:"Shown this once"`
}

type clientIDInput struct {
	ID string `json:"id" minLength:"1" maxLength:"2000"`
}

type connectedView struct {
	ClientID   string     `json:"clientId"`
	Name       string     `json:"name"`
	Source     string     `json:"source" enum:"manual,dynamic,document"`
	Scopes     []string   `json:"scopes"`
	AllowedAt  time.Time  `json:"allowedAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty" doc:"When it last got tokens"`
}

type connectedOutput struct {
	Clients []connectedView `json:"clients"`
}

type doneOutput struct {
	Success bool `json:"success"`
}

// Operations declares the settings, the clients and what each person allowed.
func (s *Server) Operations() []operation.Operation {
	admin := func(id string, kind operation.Kind, summary string) operation.Declaration {
		return operation.Declaration{ID: id, Kind: kind, Caller: operation.Authenticated, Access: []authz.Rule{RuleManage}, Summary: summary}
	}
	own := func(id string, kind operation.Kind, summary string) operation.Declaration {
		return operation.Declaration{ID: id, Kind: kind, Caller: operation.UserOnly, NoRule: true, Summary: summary}
	}
	return []operation.Operation{
		operation.New(admin("auth.getMcpOAuthSettings", operation.Query, "Get the settings of access over MCP"), s.getSettings),
		operation.New(admin("auth.setMcpOAuthSettings", operation.Mutation, "Change the settings of access over MCP"), s.setSettings),
		operation.New(admin("auth.getOAuthClients", operation.Query, "List the clients that may ask people for access"), s.getClients),
		operation.New(admin("auth.createOAuthClient", operation.Mutation, "Add a client by hand"), s.createClient),
		operation.New(admin("auth.deleteOAuthClient", operation.Mutation, "Remove a client and end its access"), s.deleteClient),
		operation.New(own("auth.getConnectedClients", operation.Query, "List the clients that the caller let in"), s.getConnected),
		operation.New(own("auth.disconnectClient", operation.Mutation, "End a client's access for the caller"), s.disconnect),
	}
}

func (s *Server) settingsView(set Settings) *settingsView {
	return &settingsView{set.Enabled, set.AllowRegistration, !set.NoDocuments, set.AllowProposals, s.Resource()}
}

func (s *Server) getSettings(ctx context.Context, _ *operation.Empty) (*settingsView, error) {
	set, err := s.Settings(ctx)
	return s.settingsView(set), err
}

func (s *Server) setSettings(ctx context.Context, in *settingsInput) (*settingsView, error) {
	c := SettingsChange{Enabled: in.Enabled, AllowRegistration: in.AllowRegistration, AllowProposals: in.AllowProposals}
	if in.AllowDocuments != nil {
		none := !*in.AllowDocuments
		c.NoDocuments = &none
	}
	set, err := s.ChangeSettings(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.settingsView(set), nil
}

func (c Client) view(people int) clientView {
	v := clientView{ID: c.ID, Name: c.Name, Source: c.Source, RedirectURIs: c.RedirectURIs, AuthMethod: c.AuthMethod, People: people, CreatedAt: c.CreatedAt}
	if !c.LastUsedAt.IsZero() {
		v.LastUsedAt = &c.LastUsedAt
	}
	return v
}

func (s *Server) getClients(ctx context.Context, _ *operation.Empty) (*clientsOutput, error) {
	var rows []struct {
		clientRow
		People int
	}
	err := s.db.Read.NewRaw("SELECT "+clientColumns+`, (SELECT count(*) FROM oauth_consents k WHERE k.client_id = oauth_clients.id) AS people
		FROM oauth_clients ORDER BY COALESCE(last_used_at, created_at) DESC LIMIT 500`).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read clients: %w", err)
	}
	out := &clientsOutput{Clients: []clientView{}}
	for _, r := range rows {
		c, err := r.client()
		if err != nil {
			return nil, err
		}
		out.Clients = append(out.Clients, c.view(r.People))
	}
	return out, nil
}

func (s *Server) createClient(ctx context.Context, in *addClientInput) (*addClientOutput, error) {
	c, secret, err := s.AddClient(ctx, Client{Name: in.Name, RedirectURIs: in.RedirectURIs, AuthMethod: in.AuthMethod}, authz.From(ctx).ID)
	if err != nil {
		return nil, err
	}
	return &addClientOutput{Client: c.view(0), ClientSecret: secret}, nil
}

func (s *Server) deleteClient(ctx context.Context, in *clientIDInput) (*doneOutput, error) {
	res, err := s.db.Write.NewRaw("DELETE FROM oauth_clients WHERE id = ?", in.ID).Exec(ctx)
	return &doneOutput{true}, db.MustAffect(res, err, errNoClient)
}

func (s *Server) getConnected(ctx context.Context, _ *operation.Empty) (*connectedOutput, error) {
	var rows []struct {
		ClientID, Name, Source, Scopes string
		UpdatedAt                      time.Time
		LastUsedAt                     *time.Time
	}
	err := s.db.Read.NewRaw(`SELECT k.client_id, c.name, c.source, CAST(k.scopes AS TEXT) AS scopes, k.updated_at,
			(SELECT g.last_used_at FROM oauth_grants g WHERE g.user_id = k.user_id AND g.client_id = k.client_id AND g.last_used_at IS NOT NULL
				ORDER BY g.last_used_at DESC LIMIT 1) AS last_used_at
		FROM oauth_consents k JOIN oauth_clients c ON c.id = k.client_id WHERE k.user_id = ? ORDER BY k.updated_at DESC`, authz.From(ctx).ID).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read connected clients: %w", err)
	}
	out := &connectedOutput{Clients: []connectedView{}}
	for _, r := range rows {
		v := connectedView{ClientID: r.ClientID, Name: r.Name, Source: r.Source, AllowedAt: r.UpdatedAt.UTC()}
		if err := json.Unmarshal([]byte(r.Scopes), &v.Scopes); err != nil {
			return nil, fmt.Errorf("read consent: %w", err)
		}
		if r.LastUsedAt != nil {
			at := r.LastUsedAt.UTC()
			v.LastUsedAt = &at
		}
		out.Clients = append(out.Clients, v)
	}
	return out, nil
}

func (s *Server) disconnect(ctx context.Context, in *clientIDInput) (*doneOutput, error) {
	userID := authz.From(ctx).ID
	if _, err := s.db.Write.NewRaw("UPDATE oauth_grants SET revoked_at = ? WHERE user_id = ? AND client_id = ? AND revoked_at IS NULL",
		s.clock(), userID, in.ID).Exec(ctx); err != nil {
		return nil, fmt.Errorf("revoke grants: %w", err)
	}
	res, err := s.db.Write.NewRaw("DELETE FROM oauth_consents WHERE user_id = ? AND client_id = ?", userID, in.ID).Exec(ctx)
	return &doneOutput{true}, db.MustAffect(res, err, problem.NotFound("You have not let this client in"))
}
