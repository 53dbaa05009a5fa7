package identity

import (
	"context"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/secret"
)

// Operations gives the operations of the plugin "auth".
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.New(operation.Declaration{ID: "auth.getCurrentUserProfile", Kind: operation.Query, Caller: operation.UserOnly, NoRule: true,
			Summary: "Get your own profile"}, s.getCurrentUserProfile),
		operation.New(operation.Declaration{ID: "auth.updateCurrentUser", Kind: operation.Mutation, Caller: operation.UserOnly, NoRule: true,
			Summary: "Change your own name or email address"}, s.updateCurrentUser),
		operation.New(operation.Declaration{ID: "auth.changePassword", Kind: operation.Mutation, Caller: operation.UserOnly, NoRule: true,
			Summary: "Change your own password", Description: "Signs out all your other sessions."}, s.changePassword),
		operation.New(operation.Declaration{ID: "auth.getSessions", Kind: operation.Query, Caller: operation.UserOnly, NoRule: true,
			Summary: "List your own sessions"}, s.getSessions),
		operation.New(operation.Declaration{ID: "auth.deleteSession", Kind: operation.Mutation, Caller: operation.UserOnly, NoRule: true,
			Summary: "Sign out one of your own sessions"}, s.deleteSession),

		operation.New(operation.Declaration{ID: "auth.getUsers", Kind: operation.Query, Caller: operation.UserOnly,
			Access: []authz.Rule{usersRead}, Summary: "List all users"}, s.getUsers),
		operation.New(operation.Declaration{ID: "auth.createCredentialUser", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{usersCreate}, Summary: "Create a user who signs in with a password",
			Description: "Works whether or not registration is open. Without roleIds the user gets the role users."}, s.createCredentialUser),
		operation.New(operation.Declaration{ID: "auth.updateUserRoles", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{usersManage}, Summary: "Set the roles of another user",
			Description: "You can only give roles whose access you have yourself. The only administrator cannot lose the role."}, s.updateUserRoles),
		operation.New(operation.Declaration{ID: "auth.deleteUser", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{usersManage}, Summary: "Delete a user", Description: "Users with the role admin cannot be deleted."}, s.deleteUser),

		operation.New(operation.Declaration{ID: "auth.getRoles", Kind: operation.Query, Caller: operation.UserOnly,
			Access: []authz.Rule{rolesRead}, Summary: "List all roles"}, s.getRoles),
		operation.New(operation.Declaration{ID: "auth.getAccessRules", Kind: operation.Query, Caller: operation.UserOnly,
			Access: []authz.Rule{rolesRead}, Summary: "List all access rules"}, s.getAccessRules),
		operation.New(operation.Declaration{ID: "auth.createRole", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{rolesCreate}, Summary: "Create a role",
			Description: "Unknown access rules are dropped. You can only grant access that you have yourself."}, s.createRole),
		operation.New(operation.Declaration{ID: "auth.updateRole", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{rolesUpdate}, Summary: "Change a role",
			Description: "Unknown access rules are dropped. The access rules of the role admin and of your own roles stay as they are."}, s.updateRole),
		operation.New(operation.Declaration{ID: "auth.deleteRole", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{rolesDelete}, Summary: "Delete a role"}, s.deleteRole),

		operation.New(operation.Declaration{ID: "auth.getApplications", Kind: operation.Query, Caller: operation.UserOnly,
			Access: []authz.Rule{applicationsManage}, Summary: "List all applications"}, s.getApplications),
		operation.New(operation.Declaration{ID: "auth.createApplication", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{applicationsManage}, Summary: "Create an application",
			Description: "The answer holds the application's key; it cannot be read again. Without roleIds the application gets the role applications."}, s.createApplication),
		operation.New(operation.Declaration{ID: "auth.updateApplication", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{applicationsManage}, Summary: "Change an application"}, s.updateApplication),
		operation.New(operation.Declaration{ID: "auth.regenerateApplicationSecret", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{applicationsManage}, Summary: "Give an application a new key",
			Description: "The old key is refused at once. You must have all access that the application has."}, s.regenerateApplicationSecret),
		operation.New(operation.Declaration{ID: "auth.deleteApplication", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{applicationsManage}, Summary: "Delete an application and its key"}, s.deleteApplication),

		operation.New(operation.Declaration{ID: "auth.getRegistrationStatus", Kind: operation.Query, Caller: operation.Anonymous,
			Summary: "Get whether people may register themselves"}, s.getRegistrationStatus),
		operation.New(operation.Declaration{ID: "auth.setRegistrationStatus", Kind: operation.Mutation, Caller: operation.UserOnly,
			Access: []authz.Rule{registrationManage}, Summary: "Open or close registration"}, s.setRegistrationStatus),
	}
}

type (
	successOutput struct {
		Success bool `json:"success"`
	}
	profileOutput struct {
		ID                   string    `json:"id"`
		Name                 string    `json:"name"`
		Email                string    `json:"email"`
		HasCredentialAccount bool      `json:"hasCredentialAccount" doc:"The account has a password"`
		CreatedAt            time.Time `json:"createdAt"`
	}
	updateCurrentUserInput struct {
		Name  *string `json:"name,omitempty" doc:"1 to 100 characters"`
		Email *string `json:"email,omitempty" doc:"The address you sign in with"`
	}
	changePasswordInput struct {
		CurrentPassword string `json:"currentPassword" maxLength:"1024"`
		NewPassword     string `json:"newPassword" maxLength:"1024" doc:"8 to 128 characters with an uppercase letter, a lowercase letter and a number"`
	}
	sessionItem struct {
		ID         string    `json:"id"`
		CreatedAt  time.Time `json:"createdAt"`
		LastSeenAt time.Time `json:"lastSeenAt" doc:"To the minute"`
		ExpiresAt  time.Time `json:"expiresAt" doc:"When the session ends unless it is used before"`
		IPAddress  string    `json:"ipAddress" doc:"Where the session was started"`
		UserAgent  string    `json:"userAgent"`
		Current    bool      `json:"current" doc:"This is the session of this request"`
	}
	sessionsOutput struct {
		Sessions []sessionItem `json:"sessions"`
	}
	idInput struct {
		ID string `json:"id" minLength:"1" maxLength:"64"`
	}
)

func profileOf(u User) *profileOutput {
	return &profileOutput{ID: u.ID, Name: u.Name, Email: u.Email, HasCredentialAccount: u.HasPassword, CreatedAt: u.CreatedAt}
}

func (s *Service) getCurrentUserProfile(ctx context.Context, _ *operation.Empty) (*profileOutput, error) {
	u, err := s.Profile(ctx)
	return profileOf(u), err
}

func (s *Service) updateCurrentUser(ctx context.Context, in *updateCurrentUserInput) (*profileOutput, error) {
	u, err := s.UpdateProfile(ctx, in.Name, in.Email)
	return profileOf(u), err
}

func (s *Service) changePassword(ctx context.Context, in *changePasswordInput) (*successOutput, error) {
	return success(s.ChangePassword(ctx, secret.New(in.CurrentPassword), secret.New(in.NewPassword)))
}

func (s *Service) getSessions(ctx context.Context, _ *operation.Empty) (*sessionsOutput, error) {
	list, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	current := authz.From(ctx).SessionID
	out := &sessionsOutput{Sessions: make([]sessionItem, len(list))}
	for i, v := range list {
		out.Sessions[i] = sessionItem{ID: v.ID, CreatedAt: v.CreatedAt, LastSeenAt: v.LastSeenAt, ExpiresAt: v.ExpiresAt,
			IPAddress: v.IPAddress, UserAgent: v.UserAgent, Current: v.ID == current}
	}
	return out, nil
}

func (s *Service) deleteSession(ctx context.Context, in *idInput) (*successOutput, error) {
	return success(s.DeleteSession(ctx, in.ID))
}

func success(err error) (*successOutput, error) {
	if err != nil {
		return nil, err
	}
	return &successOutput{Success: true}, nil
}

type (
	userItem struct {
		ID          string     `json:"id"`
		Name        string     `json:"name"`
		Email       string     `json:"email"`
		Roles       []string   `json:"roles" doc:"Role ids"`
		CreatedAt   time.Time  `json:"createdAt"`
		LastLoginAt *time.Time `json:"lastLoginAt,omitempty" doc:"Absent: never signed in"`
	}
	usersOutput struct {
		Users []userItem `json:"users"`
	}
	createUserInput struct {
		Name     string    `json:"name" maxLength:"1024" doc:"1 to 100 characters"`
		Email    string    `json:"email" maxLength:"1024"`
		Password string    `json:"password" maxLength:"1024" doc:"8 to 128 characters with an uppercase letter, a lowercase letter and a number"`
		RoleIDs  *[]string `json:"roleIds,omitempty" maxItems:"100" doc:"Without it the user gets the role users"`
	}
	userRolesInput struct {
		UserID  string   `json:"userId" minLength:"1" maxLength:"64"`
		RoleIDs []string `json:"roleIds" maxItems:"100" doc:"All roles the user shall have"`
	}
	userIDInput struct {
		UserID string `json:"userId" minLength:"1" maxLength:"64"`
	}
)

func userItemOf(u User) *userItem {
	return &userItem{ID: u.ID, Name: u.Name, Email: u.Email, Roles: list(u.Roles), CreatedAt: u.CreatedAt, LastLoginAt: u.LastLoginAt}
}

// list makes an absent list an empty one: JSON answers never hold null for it.
func list(v []string) []string {
	if v == nil {
		return []string{}
	}
	return v
}

func (s *Service) getUsers(ctx context.Context, _ *operation.Empty) (*usersOutput, error) {
	users, err := s.Users(ctx)
	out := &usersOutput{Users: make([]userItem, len(users))}
	for i, u := range users {
		out.Users[i] = *userItemOf(u)
	}
	return out, err
}

func (s *Service) createCredentialUser(ctx context.Context, in *createUserInput) (*userItem, error) {
	var roles []string
	if in.RoleIDs != nil {
		roles = list(*in.RoleIDs)
	}
	u, err := s.CreateUser(ctx, NewAccount{Name: in.Name, Email: in.Email, Password: secret.New(in.Password)}, roles)
	return userItemOf(u), err
}

func (s *Service) updateUserRoles(ctx context.Context, in *userRolesInput) (*userItem, error) {
	u, err := s.SetUserRoles(ctx, in.UserID, in.RoleIDs)
	return userItemOf(u), err
}

func (s *Service) deleteUser(ctx context.Context, in *userIDInput) (*successOutput, error) {
	return success(s.DeleteUser(ctx, in.UserID))
}

type registrationOutput struct {
	AllowRegistration bool `json:"allowRegistration" doc:"People may create their own account"`
}

func (s *Service) getRegistrationStatus(ctx context.Context, _ *operation.Empty) (*registrationOutput, error) {
	open, err := s.RegistrationAllowed(ctx)
	return &registrationOutput{AllowRegistration: open}, err
}

func (s *Service) setRegistrationStatus(ctx context.Context, in *registrationOutput) (*registrationOutput, error) {
	return in, s.SetRegistration(ctx, in.AllowRegistration)
}
