package knowledge

import "github.com/checkstack/checkstack/internal/authz"

// The access rules of memories and skills, spec/ai-platform.md 2.1.
var (
	MemoryRead   = authz.Rule{ID: "ai.memory.read", Description: "Let the assistant recall memories, and see them", Default: true}
	MemoryManage = authz.Rule{ID: "ai.memory.manage", Description: "Save, change and delete memories of the assistant", Default: true}
	SkillRead    = authz.Rule{ID: "ai.skill.read", Description: "See and use skills of the assistant", Default: true}
	SkillCreate  = authz.Rule{ID: "ai.skill-create.manage", Description: "Publish skills for everybody", Default: true}
	SkillManage  = authz.Rule{ID: "ai.skill.manage", Description: "Change and delete the skills one has published", Default: true}
)

// Rules gives every rule that this package enforces.
func Rules() []authz.Rule {
	return []authz.Rule{MemoryRead, MemoryManage, SkillRead, SkillCreate, SkillManage}
}
