package db

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockDataDir keeps a second process off the same SQLite file. The lock is the
// kernel's and ends with the process, so kill -9 leaves nothing to clean up.
func lockDataDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, "checkstack.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another Checkstack is running on %s; stop it first, or set DATABASE_URL to share a PostgreSQL database", dir)
	}
	return f, nil
}
