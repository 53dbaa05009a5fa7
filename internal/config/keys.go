package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keyFile holds the generated master key, mode 0600.
const keyFile = "encryption-master-key"

// EnsureKey fills in the master key when none is set: from the data directory,
// or a new one that is written there. created tells that it is new and should
// be backed up.
func (c *Config) EnsureKey() (created bool, err error) {
	if c.EncryptionMasterKey != "" {
		return false, nil
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return false, fmt.Errorf("create data directory: %w", err)
	}
	path := filepath.Join(c.DataDir, keyFile)
	if key, err := readKey(path); err == nil {
		c.EncryptionMasterKey = key
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	var b [32]byte
	_, _ = rand.Read(b[:])
	key := hex.EncodeToString(b[:])
	// Written aside and linked into place, so that a crash leaves no half key
	// and of two starting processes both end with the same one.
	tmp, err := os.CreateTemp(c.DataDir, keyFile+".*")
	if err != nil {
		return false, fmt.Errorf("write master key: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if _, err := tmp.WriteString(key + "\n"); err != nil {
		return false, fmt.Errorf("write master key: %w", err)
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return false, fmt.Errorf("write master key: %w", err)
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("write master key: %w", err)
	} else if err != nil {
		if key, err = readKey(path); err != nil {
			return false, err
		}
		c.EncryptionMasterKey = key
		return false, nil
	}
	c.EncryptionMasterKey = key
	return true, nil
}

func readKey(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read master key: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if !isKey(key) {
		return "", fmt.Errorf("the master key in %s is damaged: restore it from your backup", path)
	}
	return key, nil
}

func isKey(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32
}
