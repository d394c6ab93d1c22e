import type { ReaderWords } from './en.ts';

export const pt: ReaderWords = {
  notices: {
    notFound: {
      title: 'Não encontrado',
      text: 'Esta página não existe nesta documentação. Talvez tenha sido movida ou renomeada.',
    },
    nothingHere: { title: 'Não encontrado', text: 'Não há documentação neste endereço.' },
    off: { title: 'Esta documentação está desativada', text: 'Pergunte a quem lhe deu o endereço.' },
    notReady: {
      title: 'Esta documentação ainda não está pronta',
      text: 'Nenhuma versão chegou ainda. Tente novamente em alguns minutos.',
    },
    notLoaded: {
      title: 'Esta documentação ainda não está pronta',
      text: 'Não foi possível carregá-la até agora. Quem cuida dela pode ver o motivo.',
    },
    unavailable: {
      title: 'Esta página não pode ser exibida no momento',
      text: 'Tente novamente em instantes.',
    },
    badAddress: {
      title: 'Este endereço não pode ser lido',
      text: 'Ele contém um sinal de porcentagem que não representa nenhum caractere. Verifique como o link foi escrito.',
    },
    longAddress: { title: 'Este endereço é longo demais', text: 'Verifique como o link foi escrito.' },
    readOnly: { title: 'Esta página só pode ser lida', text: 'Nada pode ser enviado para o endereço dela.' },
    signIn: { title: 'Entre para ler esta documentação', text: 'Recarregue a página para entrar.' },
    notSignedIn: {
      title: 'Você não entrou na sua conta',
      text: 'Abra esta documentação pelo endereço que sua organização indica.',
    },
    wrongPasswords: {
      title: 'Muitas senhas incorretas',
      text: 'Elas vieram da sua rede. Aguarde um pouco e tente novamente.',
    },
    noSignIn: { title: 'Não é possível entrar no momento', text: 'Tente novamente em instantes.' },
    signInUnfinished: {
      title: 'Você ainda não entrou na sua conta',
      text: 'Demorou demais ou foi iniciado em outro navegador. Abra a documentação novamente para entrar.',
    },
    notAllowed: {
      title: 'Você não tem acesso a esta documentação',
      text: 'Você entrou, mas sua conta não pode lê-la. Pergunte a quem lhe deu o endereço.',
    },
    stillSignedIn: { title: 'Você ainda não saiu', text: 'Abra este endereço novamente para sair.' },
    signOut: {
      title: 'Sair?',
      text: 'Você precisará entrar de novo na próxima vez que abrir esta documentação.',
      button: 'Sair',
    },
  },
  shelf: {
    title: 'Documentação',
    findSite: 'Encontrar uma documentação',
    searchAll: 'Pesquisar em toda a documentação',
    find: 'Encontrar',
    empty: 'Ainda não há documentação aqui.',
    sites: 'Documentações: {total}',
    matching: 'Documentações: {count} de {total}',
    version: 'Versão',
    language: 'Idioma',
    date: 'Data',
    soon: 'Ainda não disponível',
    signIn: 'Entrar para ver mais',
    inPages: 'Nas páginas delas',
    found: 'Páginas encontradas: {count}',
    noneFound: 'Nenhuma página encontrada',
    searchBusy: 'Muitas pesquisas no momento, tente novamente em instantes',
    searchNotReady: 'A pesquisa ainda não está pronta, tente novamente em instantes',
    searchAway: 'A pesquisa não respondeu',
  },
};
