import type { ReaderWords } from './en.ts';

export const ko: ReaderWords = {
  notices: {
    notFound: {
      title: '찾을 수 없음',
      text: '이 문서에는 그런 페이지가 없습니다. 옮겨졌거나 이름이 바뀌었을 수 있습니다.',
    },
    nothingHere: { title: '찾을 수 없음', text: '이 주소에는 문서가 없습니다.' },
    off: { title: '이 문서는 꺼져 있습니다', text: '주소를 알려 준 분에게 문의하세요.' },
    notReady: {
      title: '이 문서는 아직 준비되지 않았습니다',
      text: '아직 도착한 버전이 없습니다. 몇 분 후에 다시 시도하세요.',
    },
    notLoaded: {
      title: '이 문서는 아직 준비되지 않았습니다',
      text: '아직 불러오지 못했습니다. 관리자가 그 이유를 볼 수 있습니다.',
    },
    unavailable: { title: '지금은 이 페이지를 표시할 수 없습니다', text: '잠시 후에 다시 시도하세요.' },
    badAddress: {
      title: '이 주소를 읽을 수 없습니다',
      text: '어떤 문자도 나타내지 않는 퍼센트 기호가 있습니다. 링크가 바르게 쓰였는지 확인하세요.',
    },
    longAddress: { title: '이 주소는 너무 깁니다', text: '링크가 바르게 쓰였는지 확인하세요.' },
    readOnly: { title: '이 페이지는 읽기만 할 수 있습니다', text: '이 주소로는 아무것도 보낼 수 없습니다.' },
    signIn: { title: '이 문서를 읽으려면 로그인하세요', text: '로그인하려면 페이지를 새로 고치세요.' },
    notSignedIn: {
      title: '로그인하지 않았습니다',
      text: '조직에서 안내한 주소로 이 문서를 여세요.',
    },
    wrongPasswords: {
      title: '잘못된 비밀번호가 너무 많습니다',
      text: '사용 중인 네트워크에서 보낸 것입니다. 잠시 기다렸다가 다시 시도하세요.',
    },
    noSignIn: { title: '지금은 로그인할 수 없습니다', text: '잠시 후에 다시 시도하세요.' },
    signInUnfinished: {
      title: '아직 로그인하지 않았습니다',
      text: '시간이 너무 오래 걸렸거나 다른 브라우저에서 시작되었습니다. 문서를 다시 열어 로그인하세요.',
    },
    notAllowed: {
      title: '이 문서를 읽을 수 없습니다',
      text: '로그인했지만 사용 중인 계정으로는 읽을 수 없습니다. 주소를 알려 준 분에게 문의하세요.',
    },
    stillSignedIn: { title: '아직 로그인되어 있습니다', text: '로그아웃하려면 이 주소를 다시 여세요.' },
    signOut: {
      title: '로그아웃할까요?',
      text: '다음에 이 문서를 열 때 다시 로그인해야 합니다.',
      button: '로그아웃',
    },
  },
  shelf: {
    title: '문서',
    findSite: '문서 찾기',
    searchAll: '모든 문서 검색',
    find: '찾기',
    empty: '여기에는 아직 문서가 없습니다.',
    sites: '문서: {total}개',
    matching: '문서: {total}개 중 {count}개',
    version: '버전',
    language: '언어',
    date: '날짜',
    soon: '아직 없음',
    signIn: '로그인하여 더 보기',
    inPages: '페이지 검색 결과',
    found: '찾은 페이지: {count}개',
    noneFound: '찾은 페이지가 없습니다',
    searchBusy: '지금은 검색이 너무 많습니다. 잠시 후에 다시 시도하세요',
    searchNotReady: '검색이 아직 준비되지 않았습니다. 잠시 후에 다시 시도하세요',
    searchAway: '검색이 응답하지 않았습니다',
  },
};
