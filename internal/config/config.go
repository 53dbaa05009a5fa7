// Package config holds every setting of Checkstack: its environment variable,
// its default and what it accepts. The struct tags are read by the command
// line, so that `--listen-addr` and LISTEN_ADDR are one setting.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config is the effective settings. They are read once at start.
type Config struct {
	ListenAddr string `name:"listen-addr" env:"LISTEN_ADDR" default:":3000" help:"Address to serve on, host:port. An empty host means every interface."`
	BaseURL    string `name:"base-url" env:"BASE_URL" help:"The address people type into the browser, without a path. Empty means http://localhost and the port of the listening address, or that address when it is not of this machine only."`
	DataDir    string `name:"data-dir" env:"CHECKSTACK_DATA_DIR" default:"./data" help:"Directory of the SQLite database and of generated keys."`

	DatabaseURL            string        `name:"database-url" env:"DATABASE_URL" help:"postgres://user:password@host:5432/name. Empty means SQLite in the data directory."`
	DatabasePoolMax        int           `name:"database-pool-max" env:"DATABASE_POOL_MAX" default:"20" help:"PostgreSQL connections of one replica, 2 to 500."`
	DatabaseConnectTimeout time.Duration `name:"database-connect-timeout" env:"DATABASE_CONNECT_TIMEOUT" default:"10s" help:"How long to wait for PostgreSQL at one attempt, such as 10s."`

	EncryptionMasterKey         string `name:"encryption-master-key" env:"ENCRYPTION_MASTER_KEY" help:"64 hex characters that encrypt stored credentials. Generated into the data directory when empty; with several replicas all need the same."`
	EncryptionMasterKeyPrevious string `name:"encryption-master-key-previous" env:"ENCRYPTION_MASTER_KEY_PREVIOUS" help:"Older keys, separated by commas, tried after the master key when reading."`

	LogLevel       string        `name:"log-level" env:"LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	LogFormat      string        `name:"log-format" env:"LOG_FORMAT" default:"text" help:"text for people, json for machines."`
	TrustedProxies string        `name:"trusted-proxies" env:"TRUSTED_PROXIES" default:"127.0.0.0/8,::1/128" help:"Networks whose X-Forwarded-For is believed, separated by commas."`
	CheckWorkers   int           `name:"check-workers" env:"CHECKSTACK_CHECK_WORKERS" default:"512" help:"Checks that run at the same time in one process, 1 to 10000."`
	ShutdownGrace  time.Duration `name:"shutdown-grace" env:"CHECKSTACK_SHUTDOWN_GRACE" default:"20s" help:"How long running checks and requests may take to finish when the process is asked to stop."`
}

// Validate checks every setting and brings addresses to their plain form. The
// error names the variable and what it accepts.
func (c *Config) Validate() error {
	local, err := c.localURL()
	if err != nil {
		return bad("LISTEN_ADDR", "host:port, such as :3000 or 127.0.0.1:3000")
	}
	if c.BaseURL == "" {
		c.BaseURL = local
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return bad("BASE_URL", "http:// or https:// and a host without a path, such as https://status.example.com")
	}
	c.BaseURL = u.Scheme + "://" + u.Host
	if c.DatabaseURL != "" {
		if u, err := url.Parse(c.DatabaseURL); err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") || u.Host == "" {
			return bad("DATABASE_URL", "postgres://user:password@host:5432/name, or nothing for SQLite")
		}
	}
	if c.DataDir == "" {
		return bad("CHECKSTACK_DATA_DIR", "a directory, such as ./data")
	}
	c.DataDir = filepath.Clean(c.DataDir)
	if c.DatabasePoolMax < 2 || c.DatabasePoolMax > 500 {
		return bad("DATABASE_POOL_MAX", "a number from 2 to 500")
	}
	if c.DatabaseConnectTimeout < time.Second || c.DatabaseConnectTimeout > 5*time.Minute {
		return bad("DATABASE_CONNECT_TIMEOUT", "a duration from 1s to 5m")
	}
	if c.EncryptionMasterKey != "" && !isKey(strings.TrimSpace(c.EncryptionMasterKey)) {
		return bad("ENCRYPTION_MASTER_KEY", "a key of 32 bytes (64 hex characters)")
	}
	for _, k := range c.Keys() {
		if !isKey(k) {
			return bad("ENCRYPTION_MASTER_KEY_PREVIOUS", "keys of 32 bytes (64 hex characters), separated by commas")
		}
	}
	if _, err := c.Level(); err != nil {
		return bad("LOG_LEVEL", "debug, info, warn or error")
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		return bad("LOG_FORMAT", "text or json")
	}
	if _, err := c.Proxies(); err != nil {
		return bad("TRUSTED_PROXIES", "networks such as 10.0.0.0/8, separated by commas")
	}
	if c.CheckWorkers < 1 || c.CheckWorkers > 10000 {
		return bad("CHECKSTACK_CHECK_WORKERS", "a number from 1 to 10000")
	}
	if c.ShutdownGrace < 0 || c.ShutdownGrace > 10*time.Minute {
		return bad("CHECKSTACK_SHUTDOWN_GRACE", "a duration up to 10m")
	}
	return nil
}

// localURL gives the address under which a browser finds LISTEN_ADDR when no
// BASE_URL is set.
func (c *Config) localURL() (string, error) {
	host, service, err := net.SplitHostPort(c.ListenAddr)
	if err != nil {
		return "", err
	}
	if service == "" {
		return "", errors.New("no port")
	}
	port, err := net.LookupPort("tcp", service)
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port)), nil
}

func bad(variable, accepts string) error {
	return fmt.Errorf("%s is not usable: it accepts %s", variable, accepts)
}

// Level gives LOG_LEVEL.
func (c *Config) Level() (slog.Level, error) {
	var l slog.Level
	err := l.UnmarshalText([]byte(strings.ToUpper(c.LogLevel)))
	return l, err
}

// Keys gives the configured encryption keys, the encrypting one first.
func (c *Config) Keys() []string {
	var keys []string
	for _, k := range append([]string{c.EncryptionMasterKey}, strings.Split(c.EncryptionMasterKeyPrevious, ",")...) {
		if k = strings.TrimSpace(k); k != "" {
			keys = append(keys, k)
		}
	}
	return keys
}

// Proxies gives TRUSTED_PROXIES.
func (c *Config) Proxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range strings.Split(c.TrustedProxies, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Secure says whether browsers reach us over https.
func (c *Config) Secure() bool { return strings.HasPrefix(c.BaseURL, "https://") }

// Setting is one line of `checkstack config`.
type Setting struct{ Name, Value string }

// Effective lists the settings with credentials masked.
func (c *Config) Effective() []Setting {
	database := c.DatabaseURL
	if u, err := url.Parse(database); err == nil && u.User != nil {
		if _, has := u.User.Password(); has {
			u.User = url.UserPassword(u.User.Username(), "****")
		}
		q := u.Query()
		if q.Has("password") {
			q.Set("password", "****")
			u.RawQuery = q.Encode()
		}
		database = strings.ReplaceAll(u.String(), "%2A%2A%2A%2A", "****")
	}
	mask := func(s string) string {
		if s == "" {
			return ""
		}
		return "****"
	}
	return []Setting{
		{"LISTEN_ADDR", c.ListenAddr},
		{"BASE_URL", c.BaseURL},
		{"CHECKSTACK_DATA_DIR", c.DataDir},
		{"DATABASE_URL", database},
		{"DATABASE_POOL_MAX", fmt.Sprint(c.DatabasePoolMax)},
		{"DATABASE_CONNECT_TIMEOUT", c.DatabaseConnectTimeout.String()},
		{"ENCRYPTION_MASTER_KEY", mask(c.EncryptionMasterKey)},
		{"ENCRYPTION_MASTER_KEY_PREVIOUS", mask(c.EncryptionMasterKeyPrevious)},
		{"LOG_LEVEL", c.LogLevel},
		{"LOG_FORMAT", c.LogFormat},
		{"TRUSTED_PROXIES", c.TrustedProxies},
		{"CHECKSTACK_CHECK_WORKERS", fmt.Sprint(c.CheckWorkers)},
		{"CHECKSTACK_SHUTDOWN_GRACE", c.ShutdownGrace.String()},
	}
}
