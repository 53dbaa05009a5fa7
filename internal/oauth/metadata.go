package oauth

import (
	"net/http"
	"strings"
)

// serverMetadata is RFC 8414.
func (s *Server) serverMetadata(w http.ResponseWriter, r *http.Request) {
	set, err := s.Settings(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !set.Enabled {
		writeFault(w, &fault{http.StatusNotFound, "invalid_request", "access for outside agents is switched off on this installation"})
		return
	}
	doc := map[string]any{
		"issuer":                                         s.base,
		"authorization_endpoint":                         s.base + mount + "/authorize",
		"token_endpoint":                                 s.base + mount + "/token",
		"revocation_endpoint":                            s.base + mount + "/revoke",
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          authMethods,
		"revocation_endpoint_auth_methods_supported":     authMethods,
		"scopes_supported":                               s.scopes(),
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          !set.NoDocuments,
	}
	if set.AllowRegistration {
		doc["registration_endpoint"] = s.base + mount + "/register"
	}
	writeJSON(w, http.StatusOK, doc)
}

// scopes lists what can be asked for: the bundles, every rule, and the scope
// that common clients send for a refresh token.
func (s *Server) scopes() []string {
	out := []string{ScopeRead, ScopeWrite, scopeOffline}
	for _, r := range s.rules() {
		out = append(out, r.ID)
	}
	return out
}

// resourceMetadata is RFC 9728. A client asks for the scopes it finds here.
func (s *Server) resourceMetadata(w http.ResponseWriter, r *http.Request) {
	set, err := s.Settings(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !set.Enabled {
		writeFault(w, &fault{http.StatusNotFound, "invalid_request", "access for outside agents is switched off on this installation"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"resource":                 s.Resource(),
		"resource_name":            "Checkstack",
		"authorization_servers":    []string{s.base},
		"bearer_methods_supported": []string{"header"},
		"scopes_supported":         strings.Fields(set.Scope()),
	})
}

// Challenge is the WWW-Authenticate value with which the MCP endpoint sends a
// client here to ask for scope. code is "" for a missing token, else an error of
// RFC 6750 3.1.
func (s *Server) Challenge(code, description, scope string) string {
	v := `Bearer resource_metadata="` + s.base + "/.well-known/oauth-protected-resource" + MCPPath + `"`
	if code != "" {
		v += `, error="` + code + `", error_description="` + description + `"`
	}
	return v + `, scope="` + scope + `"`
}
