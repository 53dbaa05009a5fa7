package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// TestAgentsBehindAProxy goes the whole path of an agent through a TLS proxy
// that has the public name, while the product listens on this machine: with a
// proxy that passes the name on and with one that does not.
func TestAgentsBehindAProxy(t *testing.T) {
	t.Parallel()
	for name, keepsHost := range map[string]bool{"proxy keeps Host": true, "proxy sets Host": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const base = "https://checkstack.example.com"
			p := newProductAt(t, "", base)
			p.signUp(t)
			p.must(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true,"allowDynamicClientRegistration":true}`)
			upstream, _ := url.Parse(p.server.URL)
			proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(upstream)
				r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"] // a proxy adds to what it was sent
				r.Out.Header.Add("X-Forwarded-For", "203.0.113.7")
				if keepsHost {
					r.Out.Host = r.In.Host
				}
			}})
			t.Cleanup(proxy.Close)
			// The name leads to the proxy, as in DNS.
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, proxy.Listener.Addr().String())
			}}
			t.Cleanup(transport.CloseIdleConnections)
			world := &http.Client{Transport: transport}
			jar, _ := cookiejar.New(nil)
			ann := person{&http.Client{Transport: transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, base}
			forged := []string{"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http", "Forwarded", "host=evil.example;proto=http", "X-Original-Host", "evil.example"}

			const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
			resp, _ := sendMCP(t, world, base, "", list, forged...)
			challenge := resp.Header.Get("WWW-Authenticate")
			if resp.StatusCode != 401 || !strings.Contains(challenge, `resource_metadata="`+base+`/.well-known/oauth-protected-resource/api/ai/mcp"`) {
				t.Fatalf("challenge: %d %s", resp.StatusCode, challenge)
			}
			read := func(path string) map[string]any {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
				for i := 0; i < len(forged); i += 2 {
					req.Header.Set(forged[i], forged[i+1])
				}
				resp, err := world.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				var doc map[string]any
				if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != 200 {
					t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
				}
				if text := fmt.Sprint(doc); strings.Contains(text, "evil") || strings.Contains(text, "http://") || strings.Contains(text, "127.0.0.1") {
					t.Errorf("%s: %s", path, text)
				}
				return doc
			}
			if doc := read("/.well-known/oauth-protected-resource/api/ai/mcp"); doc["resource"] != base+"/api/ai/mcp" || fmt.Sprint(doc["authorization_servers"]) != "["+base+"]" {
				t.Errorf("resource metadata: %v", doc)
			}
			doc := read("/.well-known/oauth-authorization-server")
			for field, path := range map[string]string{"issuer": "", "authorization_endpoint": "/api/auth/oauth2/authorize", "token_endpoint": "/api/auth/oauth2/token",
				"registration_endpoint": "/api/auth/oauth2/register", "revocation_endpoint": "/api/auth/oauth2/revoke"} {
				if doc[field] != base+path {
					t.Errorf("%s is %v", field, doc[field])
				}
			}

			// Registration counts the address that the proxy saw, not those that a
			// client claims to come from.
			register := func(n int) (int, string) {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/auth/oauth2/register",
					strings.NewReader(`{"redirect_uris":["`+agentCallback+`"],"token_endpoint_auth_method":"none"}`))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", n))
				resp, err := world.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				var made struct {
					ID string `json:"client_id"`
				}
				_ = json.NewDecoder(resp.Body).Decode(&made)
				return resp.StatusCode, made.ID
			}
			var client string
			for n := range 6 {
				want := 201
				if n == 5 {
					want = 429
				}
				status, id := register(n)
				if status != want {
					t.Fatalf("registration %d: %d", n, status)
				}
				if id != "" {
					client = id
				}
			}

			// Signed out: the question, then signing in, then the question again.
			status, to, _ := ann.visit(t, askFor(client, "checkstack:read"))
			if status != 303 || to.Scheme+"://"+to.Host != base || to.Path != "/auth/oauth-consent" {
				t.Fatalf("authorize: %d to %s", status, to)
			}
			if status, body := ann.post(t, "/api/auth/login", `{"email":"ann@example.com","password":"`+adminPassword+`"}`); status != 200 {
				t.Fatalf("sign in: %d %s", status, body)
			}
			if status, _, text := ann.visit(t, "/api/auth/oauth2/consent?request="+to.Query().Get("request")); status != 200 || !strings.Contains(text, `"redirectHost":"agent.example.com"`) {
				t.Errorf("the question: %d %s", status, text)
			}
			// A page elsewhere cannot answer it, even with the person's cookies.
			in := `{"request":"` + to.Query().Get("request") + `","allow":true}`
			for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://checkstack.example.com.evil.example"}} {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/auth/oauth2/consent", strings.NewReader(in))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set(headers[0], headers[1])
				if resp, err := ann.Do(req); err != nil || resp.StatusCode != 403 {
					t.Errorf("%v decides: %v", headers, err)
				} else {
					_ = resp.Body.Close()
				}
			}
			for _, c := range jar.Cookies(&url.URL{Scheme: "http", Host: "checkstack.example.com", Path: "/"}) {
				t.Errorf("the cookie %s would travel without TLS", c.Name)
			}
			token := ann.letIn(t, client, "checkstack:read")
			if resp, body := sendMCP(t, world, base, token, list, append(forged, "Origin", base)...); resp.StatusCode != 200 || !strings.Contains(body, "incident_list") {
				t.Errorf("list: %d %s", resp.StatusCode, body)
			}
			if resp, body := sendMCP(t, world, base, token, mcpCall("system_issues", `{}`)); resp.StatusCode != 200 || !strings.Contains(body, "checkedSources") {
				t.Errorf("call: %d %s", resp.StatusCode, body)
			}
			if resp, _ := sendMCP(t, world, base, token, list, "Origin", "https://evil.example"); resp.StatusCode != 403 {
				t.Errorf("a foreign page: %d", resp.StatusCode)
			}
			// A foreign name reaches the product only by a proxy that passes it on.
			want := 200
			if keepsHost {
				want = 403
			}
			if resp, body := sendMCP(t, world, base, token, list, "Host", "evil.example"); resp.StatusCode != want {
				t.Errorf("a foreign name: %d %s", resp.StatusCode, body)
			}
		})
	}
}
