//! What providers are, by the names of OpenTelemetry's conventions.

use tollgate_llm::{Flavour, Provider, ProviderApi};

/// What a provider is, by OpenTelemetry's names.
pub(crate) fn system(provider: &Provider) -> &'static str {
    let is_vertex = || provider.base_path.as_deref().is_some_and(|path| path.ends_with("/publishers/google"));
    match provider.api {
        ProviderApi::Anthropic => "anthropic",
        ProviderApi::Gemini if is_vertex() => "gcp.vertex_ai",
        ProviderApi::Gemini => "gcp.gemini",
        ProviderApi::Bedrock => "aws.bedrock",
        ProviderApi::Cohere => "cohere",
        ProviderApi::OpenAi(flavour) => match flavour {
            Flavour::OpenAi => "openai",
            Flavour::Azure => "azure.ai.openai",
            Flavour::Mistral => "mistral_ai",
            Flavour::Groq => "groq",
            Flavour::DeepSeek => "deepseek",
            Flavour::OpenRouter => "openrouter",
            Flavour::Ollama => "ollama",
            Flavour::Vllm => "vllm",
            Flavour::LlamaCpp => "llama_cpp",
        },
    }
}
