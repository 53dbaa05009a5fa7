package identity

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

var (
	errOnboarded  = problem.Forbidden("Onboarding has already been completed.")
	errWrongLogin = problem.Unauthenticated("Invalid email or password")
)

// NeedsOnboarding says that nobody has an account yet.
func (s *Service) NeedsOnboarding(ctx context.Context) (bool, error) {
	exists, err := s.store.anyUser(ctx, s.db.Read)
	return !exists && err == nil, err
}

// Onboard creates the first account, an administrator, and signs it in. Of many
// callers at once, on any number of replicas, one wins; the others are
// Forbidden.
func (s *Service) Onboard(ctx context.Context, a NewAccount, from Client) (SignedIn, error) {
	// Asked before the costly hash, and again when it counts.
	if needed, err := s.NeedsOnboarding(ctx); err != nil || !needed {
		return SignedIn{}, orElse(err, errOnboarded)
	}
	u, hash, err := s.prepareAccount(ctx, a, RoleAdmin)
	if err != nil {
		return SignedIn{}, err
	}
	var in SignedIn
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockAccounts(ctx, tx); err != nil {
			return err
		}
		if exists, err := s.store.anyUser(ctx, tx); err != nil || exists {
			return orElse(err, errOnboarded)
		}
		if err := s.store.insertUser(ctx, tx, u, hash); err != nil {
			return err
		}
		in, err = s.startSession(ctx, tx, u.ID, from)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	s.log.InfoContext(ctx, "first administrator created", "user_id", u.ID)
	return in, nil
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// Register creates an account with the role "users" and signs it in, when
// registration is open and the first administrator exists.
func (s *Service) Register(ctx context.Context, a NewAccount, from Client) (SignedIn, error) {
	open, err := s.RegistrationAllowed(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	if !open {
		return SignedIn{}, problem.Forbidden("Registration is currently disabled. Please contact an administrator.")
	}
	if needed, err := s.NeedsOnboarding(ctx); err != nil || needed {
		return SignedIn{}, orElse(err, problem.Forbidden("Create the first administrator before anyone can register."))
	}
	if err := a.check(); err != nil {
		return SignedIn{}, err
	}
	if _, err := s.take(ctx, registerPerAddress, network(from.Address)); err != nil {
		return SignedIn{}, err
	}
	u, hash, err := s.prepareAccount(ctx, a, RoleUsers)
	if err != nil {
		return SignedIn{}, err
	}
	var in SignedIn
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.store.insertUser(ctx, tx, u, hash); err != nil {
			return err
		}
		in, err = s.startSession(ctx, tx, u.ID, from)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	s.log.InfoContext(ctx, "user registered", "user_id", u.ID)
	return in, nil
}

// Login signs a person in. A wrong password, an unknown address and an account
// without a password are one answer and take the same time. Failures are
// bounded per account and address and per address; above that the answer is
// TooMany, whatever the password.
func (s *Service) Login(ctx context.Context, email string, password secret.String, from Client) (SignedIn, error) {
	address := network(from.Address)
	byAddress, err := s.take(ctx, loginPerAddress, address)
	if err != nil {
		return SignedIn{}, err
	}
	byAccount, err := s.take(ctx, loginPerAccount, textKey(email), address)
	if err != nil {
		if problem.Is(err, problem.KindTooMany) {
			// One stubborn client must not use up the limit of its whole office.
			if backErr := s.giveBack(ctx, s.db.Write, byAddress); backErr != nil {
				return SignedIn{}, backErr
			}
		}
		return SignedIn{}, err
	}
	cred, err := s.store.credentialBy(ctx, s.db.Read, "email_key", textKey(email))
	if err != nil {
		return SignedIn{}, err
	}
	ok, outdated, err := s.hasher.verify(ctx, password, cred.PasswordHash)
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		s.log.InfoContext(ctx, "sign-in refused", "user_id", cred.UserID, "client_address", clip(from.Address, maxAddress))
		return SignedIn{}, errWrongLogin
	}
	hash := cred.PasswordHash
	if outdated {
		if hash, err = s.hasher.hash(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	var in SignedIn
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockUser(ctx, tx, cred.UserID); err != nil {
			return err
		}
		// The password may have been changed since it was read; that change has
		// ended all sessions, so an old password must not open a new one.
		current, err := s.store.credentialBy(ctx, tx, "id", cred.UserID)
		if err != nil {
			return err
		}
		if current.PasswordHash != cred.PasswordHash {
			return errWrongLogin
		}
		if outdated {
			if _, err := s.store.replaceHash(ctx, tx, cred.UserID, cred.PasswordHash, hash, s.now()); err != nil {
				return err
			}
		}
		if err := s.giveBack(ctx, tx, byAddress, byAccount); err != nil {
			return err
		}
		in, err = s.startSession(ctx, tx, cred.UserID, from)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	return in, nil
}

// check lists what is wrong with the account; paths are those of the inputs
// that carry one.
func (a NewAccount) check() error {
	_, err := a.normal()
	return err
}

func (a NewAccount) normal() (NewAccount, error) {
	var is issues
	a.Name = is.name("name", a.Name)
	a.Email = is.email("email", a.Email)
	is.password("password", a.Password)
	return a, is.err("password")
}

// prepareAccount checks an account and hashes its password, which must not
// happen inside a transaction: it takes long, and SQLite has one writer.
func (s *Service) prepareAccount(ctx context.Context, a NewAccount, roles ...string) (User, string, error) {
	a, err := a.normal()
	if err != nil {
		return User{}, "", err
	}
	hash, err := s.hasher.hash(ctx, a.Password)
	if err != nil {
		return User{}, "", err
	}
	return User{ID: newID(), Name: a.Name, Email: a.Email, Roles: roles, HasPassword: true, CreatedAt: s.now()}, hash, nil
}
