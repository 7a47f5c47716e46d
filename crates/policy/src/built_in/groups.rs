//! The protected files, by the reason for which they are protected. Patterns are in lower case.

/// What happens to a call that touches a file of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    /// Writing is refused.
    NoWrite,
    /// Writing asks every time, in every mode.
    SensitiveWrite,
    /// Like `SensitiveWrite`; reading asks, too, unless a rule names the file or the mode is `yolo`.
    Secret,
}

/// Files that are protected for the same reason. Patterns apply in every folder, not only at the top.
pub(super) struct Group {
    /// The last part of the rule's id.
    pub(super) name: &'static str,
    pub(super) protection: Protection,
    /// Completes "It changes <path>, …" or, for refusals, "<path> …".
    pub(super) because: &'static str,
    pub(super) note: &'static str,
    /// Separated by spaces.
    pub(super) patterns: &'static str,
    pub(super) except: &'static str,
}

pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "repository",
        protection: Protection::NoWrite,
        because: "belongs to the version control system. Use its commands instead, for example git.",
        note: "The data of a repository is changed by git and its like only.",
        patterns: ".git .git/** git~1 git~1/** .hg .hg/** .svn .svn/** .jj .jj/**",
        except: "",
    },
    Group {
        name: "pipelines",
        protection: Protection::SensitiveWrite,
        because: "which a build server executes",
        note: "A build server executes these files.",
        patterns: ".github/workflows/** .github/actions/** .gitea/workflows/** .forgejo/workflows/** \
            .gitlab-ci.yml .gitlab-ci.yaml .gitlab/ci/** .circleci/** .buildkite/** .woodpecker/** \
            .woodpecker.{yml,yaml} .drone.{yml,yaml} .travis.yml {.,}appveyor.yml \
            azure-pipelines*.{yml,yaml} bitbucket-pipelines.yml jenkinsfile cloudbuild.{yml,yaml}",
        except: "",
    },
    Group {
        name: "hooks",
        protection: Protection::SensitiveWrite,
        because: "which git executes or trusts",
        note: "Git executes these files, or follows them without a question.",
        patterns: ".husky/** .githooks/** {.,}lefthook*.{yml,yaml,toml,json} .pre-commit-config.yaml \
            .gitmodules .gitconfig .lfsconfig *.git/**",
        except: "",
    },
    Group {
        name: "editors",
        protection: Protection::SensitiveWrite,
        because: "from which an editor or debugger starts programs",
        note: "Editors and debuggers start programs from these files.",
        patterns: ".vscode/** *.code-workspace .idea/** .run/** .fleet/** .zed/** .devcontainer/** \
            .devcontainer.json .vimrc .exrc .nvimrc .nvim.lua .vim/** .dir-locals.el .emacs \
            .emacs.d/** .gdbinit .lldbinit",
        except: "",
    },
    Group {
        name: "package-managers",
        protection: Protection::SensitiveWrite,
        because: "which decides where programs come from or what else is executed",
        note: "Package managers and build tools take from these files where programs come from and what they execute.",
        patterns: ".npmrc .yarnrc .yarnrc.yml .yarn/releases/** .yarn/plugins/** .pnpmfile.{cjs,mjs} \
            bunfig.toml .cargo/config .cargo/config.toml .envrc {.,}mise{,.*}.toml .mise/** \
            .tool-versions pip.conf pip.ini sitecustomize.py usercustomize.py site-packages/*.pth \
            .mvn/** gradle/wrapper/** .bazelrc .bundle/config .gemrc",
        except: "",
    },
    Group {
        name: "shell-profiles",
        protection: Protection::SensitiveWrite,
        because: "which every new shell or login executes",
        note: "Every new shell or login executes these files.",
        patterns: ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv \
            .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .xprofile .xinitrc \
            .xsession .xsessionrc .pam_environment .config/fish/** .config/autostart/** \
            .config/systemd/** .config/environment.d/** .local/bin/** library/launchagents/** \
            crontab *profile.ps1",
        except: "",
    },
    Group {
        name: "agents",
        protection: Protection::SensitiveWrite,
        because: "which agents follow as instructions",
        note: "Agents follow these files, or start programs from them.",
        patterns: "agents.md agents.override.md claude.md claude.local.md gemini.md skill.md .mcp.json \
            mcp.json .concertino/** concertino.toml .snow/** main-agents.toml .agents/** .claude/** .codex/** .gemini/** \
            .cursor/** .cursorrules .windsurf/** .windsurfrules .clinerules .clinerules/** .roo/** \
            .aider.conf.yml .github/copilot-instructions.md .github/instructions/** \
            .github/prompts/**",
        except: "",
    },
    Group {
        name: "secrets",
        protection: Protection::Secret,
        because: "which usually holds secrets",
        note: "These files usually hold passwords or keys. Searches leave them out.",
        patterns: ".env .env.* *.env .envrc *.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.kdbx *.kdb \
            id_rsa* id_dsa* id_ecdsa* id_ed25519* .netrc _netrc .npmrc .pypirc .pgpass .my.cnf \
            .htpasswd .git-credentials .vault-token .dockercfg .docker/config.json .s3cfg .boto \
            .terraformrc *.tfstate *.tfstate.backup *.tfvars credentials* \
            secrets.{yml,yaml,json,toml,ini,env,txt} service-account*.json service_account*.json \
            .ssh .ssh/** .gnupg .gnupg/** .aws .aws/** .azure .azure/** .kube .kube/** \
            .config/gcloud .config/gcloud/** .password-store .password-store/** .bash_history \
            .zsh_history .python_history .psql_history .mysql_history wallet.dat",
        // Templates without values, public keys, and source code about credentials.
        except: ".env.{example,sample,template,dist,defaults} .env.*.{example,sample,template,dist} \
            {example,sample,template}.env *.{example,sample,template}.env id_*.pub \
            credentials*.{rs,go,py,rb,php,java,kt,scala,swift,c,h,cc,cpp,hpp,cs,js,jsx,mjs,ts,tsx,vue,svelte,css,html,md,rst} \
            *.pub.pem *.tfvars.example",
    },
];
