//! Which budgets of language models requests meet, and the names of their counters: the same for requests and for those who look at them.

use tollgate_llm_gateway::MetBudget;
use tollgate_model::session::{BudgetHolder, LlmBudget};

/// A budget of an API for a caller, known by the digest of its key. `value` is what the caller has of a claim or in its metadata.
pub fn of_api(api: &str, budget: &LlmBudget, caller: &str, value: impl FnOnce(&BudgetHolder) -> String) -> MetBudget {
    let of_value = |of: &str, name: &str, holder: &BudgetHolder| {
        // A value of any length and letters has a name of its own. Those without a value share one.
        let digest = blake3::hash(value(holder).as_bytes()).to_hex();
        MetBudget::new(of, &[&format!("api-{of}"), api, name, &digest], budget)
    };
    match &budget.of {
        Some(BudgetHolder::Key) => MetBudget::new("key", &["api-key", api, caller], budget),
        Some(holder @ BudgetHolder::Claim(name)) => of_value("claim", name, holder),
        Some(holder @ BudgetHolder::Metadata(name)) => of_value("metadata", name, holder),
        _ => MetBudget::new("api", &["api", api], budget),
    }
}

/// A budget of a session, known by the digest of its key.
pub fn of_key(budget: &LlmBudget, caller: &str) -> MetBudget {
    match &budget.policy {
        Some(policy) => of_policy(policy, budget, caller),
        None => MetBudget::new("key", &["key", caller], budget),
    }
}

/// A budget that a key has from a policy.
pub fn of_policy(policy: &str, budget: &LlmBudget, caller: &str) -> MetBudget {
    match budget.of {
        Some(BudgetHolder::Policy) => MetBudget::new("policy", &["policy", policy], budget),
        _ => MetBudget::new("key", &["policy-key", policy, caller], budget),
    }
}

/// A budget of an organisation.
pub fn of_organisation(org: &str, budget: &LlmBudget) -> MetBudget {
    MetBudget::new("organisation", &["org", org], budget)
}

/// How a key is known here, by what is shown of it.
pub fn caller_digest(shown: &str) -> String {
    blake3::hash(shown.as_bytes()).to_hex().to_string()
}
