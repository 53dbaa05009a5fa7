import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";

export type Skill = NonNullable<Output<"/rest/ai/listSkills", "get">["skills"]>[number];
export type SkillDraft = Body<"/rest/ai/createSkill", "post">;
export type SkillChange = Body<"/rest/ai/updateSkill", "patch">;
export type OutputField = NonNullable<Skill["suggestedOutputFields"]>[number];

export const useSkills = () => useQuery({ queryKey: ["ai", "listSkills"], queryFn: () => call(api.GET("/rest/ai/listSkills")), meta: { deaf: true } });

export function useSkill(id: string, enabled: boolean) {
  return useQuery({ queryKey: ["ai", "getSkill", id], queryFn: () => readSkill(id), enabled, meta: { deaf: true } });
}

/** A skill as it is stored now. */
export const readSkill = (id: string) => call(api.GET("/rest/ai/getSkill", { params: { query: { id } } }));

function useSkillMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => client.invalidateQueries({ predicate: (query) => query.queryKey[0] === "ai" && (query.queryKey[1] === "listSkills" || query.queryKey[1] === "getSkill") }),
  });
}

export const useCreateSkill = () => useSkillMutation((body: SkillDraft) => call(api.POST("/rest/ai/createSkill", { body })));
export const useUpdateSkill = () => useSkillMutation((body: SkillChange) => call(api.PATCH("/rest/ai/updateSkill", { body })));
export const useDeleteSkill = () => useSkillMutation((id: string) => call(api.DELETE("/rest/ai/deleteSkill", { body: { id } })));
