// Package knowledge is what the assistant can look up and keep: the product's
// own documentation, an outside address, skills and memories, and the kinds of
// things an installation can be built from. It owns the tables ai_memories and
// ai_skills and the tools ai.searchDocs, ai.getDoc, ai.listDocs, ai.probeUrl,
// ai.askOperator, ai.searchMemory, ai.saveMemory, ai.deleteMemory,
// ai.listCapabilities and ai.getCapabilitySchema.
//
// It decides nothing about a turn. The agent asks for MemoryPrompt and
// SkillPrompt and puts them beside the conversation as data.
//
// Invariants:
//   - A memory of scope "user" is seen by its owner alone; one of scope
//     "system" by those who may see the system, and by nobody else, not even
//     who wrote it.
//   - Memories and skills hold no credentials: a text that looks like it holds
//     one is refused.
//   - What people wrote grants nothing. It reaches a model as data.
//   - The probe dials only what netguard.Probe allows, follows no redirect and
//     tells nothing about what a name resolved to.
//
// Read service.go first, then docs.go and rank.go for the documentation,
// memory.go and skill.go for what is kept.
package knowledge
