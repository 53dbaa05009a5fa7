-- +goose Up
-- Installations that cannot reach the internet do not read the metadata
-- documents of clients.
ALTER TABLE oauth_settings ADD COLUMN no_documents BOOLEAN NOT NULL DEFAULT FALSE;
