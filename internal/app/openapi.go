package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/config"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// docsRead guards the API description; spec/platform.md 6.8.
var docsRead = authz.Rule{ID: "api-docs.api-docs.read", Description: "Read the API description", Default: true}

func openAPIHandler(ops *operation.Set, version, baseURL string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := authz.From(r.Context())
		if p.IsGuest() {
			problem.Write(w, problem.Unauthenticated("Authentication required"))
			return
		}
		if missing := p.Missing(docsRead); len(missing) > 0 {
			problem.Write(w, problem.Forbidden("Missing access: %s", missing[0]))
			return
		}
		doc, err := ops.OpenAPI(version, baseURL)
		if err != nil {
			problem.Write(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(doc)
	})
}

// throwaway builds the whole application on an empty database in a temporary
// directory, for what needs the declarations but no data.
func throwaway(ctx context.Context, version string) (*application, func(), error) {
	dir, err := os.MkdirTemp("", "checkstack-")
	if err != nil {
		return nil, nil, err
	}
	cfg := config.Config{DataDir: dir, BaseURL: "http://localhost:3000", CheckWorkers: 1,
		EncryptionMasterKey: strings.Repeat("0", 64)}
	a, err := build(ctx, cfg, version, slog.New(slog.DiscardHandler))
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, err
	}
	return a, func() {
		_ = a.db.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

// WriteOpenAPI prints the API description of this version.
func WriteOpenAPI(out io.Writer, version string) error {
	a, done, err := throwaway(context.Background(), version)
	if err != nil {
		return err
	}
	defer done()
	doc, err := a.domains.operations.OpenAPI(version, "")
	if err != nil {
		return err
	}
	_, err = out.Write(doc)
	return err
}

// ReencryptSecrets rewrites stored credentials with the present master key, so
// that older keys can be retired.
func ReencryptSecrets(ctx context.Context, cfg config.Config, out io.Writer) error {
	a, err := build(ctx, cfg, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { _ = a.db.Close() }()
	return a.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		scanned, rewritten, failed, err := a.secrets.Reencrypt(ctx, tx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "secrets: %d scanned, %d rewritten, %d unreadable\n", scanned, rewritten, failed)
		if failed > 0 {
			return fmt.Errorf("%d secrets cannot be read with the configured keys; keep the old keys in ENCRYPTION_MASTER_KEY_PREVIOUS", failed)
		}
		return nil
	})
}
