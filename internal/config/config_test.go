package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func valid() Config {
	return Config{ListenAddr: ":3000", BaseURL: "http://localhost:3000", DataDir: "./data", DatabasePoolMax: 20,
		DatabaseConnectTimeout: 10 * time.Second, LogLevel: "info", LogFormat: "text", CheckWorkers: 512}
}

func TestValidateNamesTheVariable(t *testing.T) {
	t.Parallel()
	for variable, change := range map[string]func(*Config){
		"":                               func(*Config) {},
		"LISTEN_ADDR":                    func(c *Config) { c.ListenAddr = "3000" },
		"BASE_URL":                       func(c *Config) { c.BaseURL = "https://example.com/path" },
		"DATABASE_URL":                   func(c *Config) { c.DatabaseURL = "mysql://x" },
		"DATABASE_POOL_MAX":              func(c *Config) { c.DatabasePoolMax = 1 },
		"DATABASE_CONNECT_TIMEOUT":       func(c *Config) { c.DatabaseConnectTimeout = 0 },
		"ENCRYPTION_MASTER_KEY":          func(c *Config) { c.EncryptionMasterKey = "short" },
		"ENCRYPTION_MASTER_KEY_PREVIOUS": func(c *Config) { c.EncryptionMasterKeyPrevious = "short" },
		"LOG_LEVEL":                      func(c *Config) { c.LogLevel = "loud" },
		"LOG_FORMAT":                     func(c *Config) { c.LogFormat = "xml" },
		"TRUSTED_PROXIES":                func(c *Config) { c.TrustedProxies = "10.0.0.1" },
		"CHECKSTACK_CHECK_WORKERS":       func(c *Config) { c.CheckWorkers = 0 },
		"CHECKSTACK_SHUTDOWN_GRACE":      func(c *Config) { c.ShutdownGrace = -time.Second },
	} {
		c := valid()
		change(&c)
		err := c.Validate()
		if variable == "" {
			if err != nil {
				t.Errorf("the defaults are refused: %v", err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), variable) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line naming it", variable, err)
		}
	}
}

func TestUnusablePortsAreNamedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{":", ":99999", "127.0.0.1:-1", ":no-such-service"} {
		c := valid()
		c.ListenAddr = addr
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), "LISTEN_ADDR") {
			t.Errorf("%q: got %v", addr, err)
		}
	}
}

func TestBaseURLFollowsTheListeningAddress(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		":3000":             "http://localhost:3000",
		"127.0.0.1:3100":    "http://localhost:3100",
		"0.0.0.0:8080":      "http://localhost:8080",
		"[::]:8080":         "http://localhost:8080",
		"192.0.2.7:80":      "http://192.0.2.7:80",
		"[2001:db8::1]:443": "http://[2001:db8::1]:443",
		"checks.test:3000":  "http://checks.test:3000",
	} {
		c := valid()
		c.ListenAddr, c.BaseURL = addr, ""
		if err := c.Validate(); err != nil || c.BaseURL != want {
			t.Errorf("%s: got %q, %v; want %q", addr, c.BaseURL, err, want)
		}
		c.BaseURL = "https://status.example.com/"
		if err := c.Validate(); err != nil || c.BaseURL != "https://status.example.com" {
			t.Errorf("%s: a set address became %q, %v", addr, c.BaseURL, err)
		}
	}
}

func TestGeneratedKeyIsKept(t *testing.T) {
	t.Parallel()
	c := valid()
	c.DataDir = t.TempDir()
	created, err := c.EnsureKey()
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	again := valid()
	again.DataDir = c.DataDir
	if created, err = again.EnsureKey(); err != nil || created || again.EncryptionMasterKey != c.EncryptionMasterKey {
		t.Errorf("second start: created %v, same %v, %v", created, again.EncryptionMasterKey == c.EncryptionMasterKey, err)
	}
	file := filepath.Join(c.DataDir, keyFile)
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := valid()
	broken.DataDir = c.DataDir
	if _, err := broken.EnsureKey(); err == nil || strings.Contains(err.Error(), "damaged\n") {
		t.Errorf("a damaged key must stop the start, got %v", err)
	}
}

func TestEffectiveMasksCredentials(t *testing.T) {
	t.Parallel()
	c := valid()
	c.DatabaseURL = "postgres://user:canary-pw@db:5432/x?sslmode=disable"
	c.EncryptionMasterKey = strings.Repeat("ab", 32)
	for _, s := range c.Effective() {
		if strings.Contains(s.Value, "canary-pw") || strings.Contains(s.Value, "abab") {
			t.Errorf("%s shows a credential", s.Name)
		}
	}
}
