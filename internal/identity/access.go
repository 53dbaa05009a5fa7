package identity

import "github.com/checkstack/checkstack/internal/authz"

// The rules of this domain; none is default or public.
var (
	usersRead          = authz.Rule{ID: "auth.users.read", Description: "List all users"}
	usersCreate        = authz.Rule{ID: "auth.users.create.manage", Description: "Create users who sign in with a password"}
	usersManage        = authz.Rule{ID: "auth.users.manage", Description: "Assign roles to users and delete users"}
	rolesRead          = authz.Rule{ID: "auth.roles.read", Description: "List roles and access rules"}
	rolesCreate        = authz.Rule{ID: "auth.roles.create.manage", Description: "Create roles"}
	rolesUpdate        = authz.Rule{ID: "auth.roles.update.manage", Description: "Change roles and what they allow"}
	rolesDelete        = authz.Rule{ID: "auth.roles.delete.manage", Description: "Delete roles"}
	registrationManage = authz.Rule{ID: "auth.registration.manage", Description: "Open and close the registration of new users"}
	applicationsManage = authz.Rule{ID: "auth.applications.manage", Description: "Create, change and delete applications and their keys"}
)

// Rules gives the access rules of this domain.
func Rules() []authz.Rule {
	return []authz.Rule{
		usersRead, usersCreate, usersManage,
		rolesRead, rolesCreate, rolesUpdate, rolesDelete,
		registrationManage, applicationsManage,
	}
}
