package identity

import "context"

const registrationSetting = "auth.registration"

type registration struct {
	AllowRegistration bool `json:"allowRegistration"`
}

// RegistrationAllowed says whether people may create their own account. It is
// open until an administrator closes it.
func (s *Service) RegistrationAllowed(ctx context.Context) (bool, error) {
	r := registration{AllowRegistration: true}
	err := s.store.setting(ctx, s.db.Read, registrationSetting, &r)
	return r.AllowRegistration && err == nil, err
}

// SetRegistration opens or closes registration.
func (s *Service) SetRegistration(ctx context.Context, allow bool) error {
	return s.store.putSetting(ctx, s.db.Write, registrationSetting, registration{AllowRegistration: allow}, s.now())
}
